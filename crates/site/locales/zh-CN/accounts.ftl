# 未被受理的请求
trouble-too-many = 请求过多
trouble-too-many-why = 请等待 { $seconds } 秒后重试。
trouble-cross-site = 请求不是从本站发出的
trouble-cross-site-why = 该请求来自其他网站的页面，或无法确认来自本站，因此未执行任何操作。请在本站打开该页面，重新提交表单。
trouble-no-form = 这不是表单
trouble-no-form-why = 页面只接受表单提交的内容。程序请使用 API。
