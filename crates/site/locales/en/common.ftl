# The frame of every page.
site-name = tokgrid
