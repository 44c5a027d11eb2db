/// What `siwa dev` prints: lines to paste into a second terminal, one after the other. They need curl and nothing else.
///
/// A shell that takes no comments when interactive (zsh) runs them as commands, so they are plain words: a quotation mark
/// in one would swallow the line after it.
struct Walkthrough {
    let servicePort: Int
    let applePort: Int
    let secret: String
    let clientID: String

    var text: String {
        """

        siwa       http://127.0.0.1:\(servicePort)
        fake Apple http://127.0.0.1:\(applePort)

        Paste these lines into another terminal, one after the other. Ctrl-C here ends both.

        SIWA=http://127.0.0.1:\(servicePort); APPLE=http://127.0.0.1:\(applePort); KEY=\(secret)

        # Somebody signs in on an iPhone. Apple gives the app an identity token, the app gives it to your backend.
        TOKEN=$(curl -sS -X POST "$APPLE/emulator/identity-tokens?format=text")

        # Your backend asks who that is, and gets a new account. Paste it again and get the same one.
        curl -sS "$SIWA/v1/sign-ins" -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d "{\\"identity_token\\":\\"$TOKEN\\"}"; echo

        # Later it asks whether the person may go on. Authorized.
        SUB=$(curl -sS "$APPLE/emulator/users/default?format=text")
        curl -sS "$SIWA/v1/credentials/$SUB?client_id=\(clientID)" -H "Authorization: Bearer $KEY"; echo

        # In the settings of the iPhone the person stops using the app. Apple notifies siwa.
        curl -sS -X POST "$APPLE/emulator/users/default/revoke-consent?format=text"; echo

        # The same question again. Revoked, because consent was withdrawn.
        curl -sS "$SIWA/v1/credentials/$SUB?client_id=\(clientID)" -H "Authorization: Bearer $KEY"; echo

        # The old token is signed by Apple and not expired, and is refused all the same.
        curl -sS "$SIWA/v1/sign-ins" -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d "{\\"identity_token\\":\\"$TOKEN\\"}"; echo

        # Everything that happened, in order.
        curl -sS "$SIWA/v1/events" -H "Authorization: Bearer $KEY"; echo

        """
    }
}
