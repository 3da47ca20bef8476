// Makes "All measurements" sortable. The page is whole without it.
for (const table of document.querySelectorAll("table.all")) {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells];
  const next = { none: "ascending", ascending: "descending", descending: "none" };
  // A context's K is 1,024 tokens, that of tok/s 1,000.
  const value = (row, column) => {
    const text = row.cells[column].textContent.replace("≥", "").trim();
    const number = /^([\d,]+(?:\.\d+)?)(K?)/.exec(text);
    if (!number) return text;
    return parseFloat(number[1].replaceAll(",", "")) * (number[2] ? (column === 1 ? 1024 : 1000) : 1);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = next[head.getAttribute("aria-sort") ?? "none"];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (order !== "none") head.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      const sorted = order === "none" ? rows : [...rows].sort((one, other) => {
        const [a, b] = [value(one, column), value(other, column)];
        // What was not measured comes last either way.
        return (a === "—") - (b === "—") || sign * compare(a, b);
      });
      table.tBodies[0].append(...sorted);
    });
  });
}
