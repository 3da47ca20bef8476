# 每个页面的框架。
site-name = tokgrid
