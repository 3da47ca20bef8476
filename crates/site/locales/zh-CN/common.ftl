# 每个页面的框架。
skip-to-content = 跳到正文
menu = 网站
menu-start = 快速上手
menu-leaderboard = 排行榜
menu-models = 模型
menu-organizations = 组织
menu-runs = 矩阵测试
menu-hardware = 硬件
menu-api = API 文档
menu-sign-in = 登录

# 说明出错原因的页面。
trouble-not-found = 这里什么都没有
trouble-not-found-why = 此地址没有页面。它可能已被删除，或者链接有误。
trouble-bad-request = 无法理解此地址
trouble-forbidden = 此账号无权访问
trouble-forbidden-why = 请使用有相应权限的账号登录。
trouble-broken = 网站出错了
trouble-broken-why = 这是我们的问题，已记录在日志中。请稍后再试。
