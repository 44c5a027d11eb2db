/// The form of streamlined linking.
struct StreamlinedForm {
    let token: String

    var html: String {
        """
        <section><h2>Streamlined linking</h2>
        <p>Google sends its ID token to the token endpoint: <b>check</b> asks whether there is an account, \
        <b>get</b> asks for its tokens, <b>create</b> for a new account.</p>
        <form method="post" action="/streamlined">\(HTML.hidden([("token", token)]))
        <div class="row">
        \(HTML.text("Google account (sub)", "sub", value: GoogleAccount().subject))
        \(HTML.text("E-mail address", "email", value: GoogleAccount().email))
        </div>
        <div class="row"><button name="intent" value="check">check</button>
        <button name="intent" value="get">get</button>
        <button name="intent" value="create">create</button></div>
        </form></section>
        """
    }
}
