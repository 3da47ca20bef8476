# Requests that are not answered.
trouble-too-many = Too many requests
trouble-too-many-why = { $seconds ->
    [one] Please wait a second, then try again.
   *[other] Please wait { $seconds } seconds, then try again.
}
trouble-cross-site = This did not come from here
trouble-cross-site-why = Another site’s page sent this request, or nothing said that ours did, so nothing was done. Open the page here and send its form again.
trouble-no-form = This is no form
trouble-no-form-why = Pages take what their forms send. Programs use the API.
