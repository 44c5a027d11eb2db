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

        \(lines)

        """
    }

    /// The lines alone, as they are in the README too.
    var lines: String {
        """
        SIWA=http://127.0.0.1:\(servicePort); APPLE=http://127.0.0.1:\(applePort)
        KEY="Authorization: Bearer \(secret)"; JSON="Content-Type: application/json"

        # Somebody with an Apple Account, who hides the e-mail address.
        SUB=$(curl -sS "$APPLE/emulator/users?format=text" -d '{"first_name":"Ada","last_name":"Lovelace","hide_email":true}')

        # On the iPhone they sign in. Apple gives the app an identity token, a code and, this once, the name.
        SIGN_IN=$(curl -sS "$APPLE/emulator/identity-tokens?format=sign-in" -d "{\\"sub\\":\\"$SUB\\",\\"code\\":true}")

        # The app hands them to your backend, which asks who that is, and gets a new account.
        curl -sS $SIWA/v1/sign-ins -H "$KEY" -H "$JSON" -d "$SIGN_IN"; echo

        # Meanwhile the code was exchanged. The account says held. siwa keeps a refresh token, sealed.
        sleep 1; curl -sS "$SIWA/v1/accounts?client_id=\(clientID)&sub=$SUB" -H "$KEY"; echo

        # With it siwa asks Apple once a day whether they are still there, and here every few seconds. See the refreshes.
        sleep 8; curl -sS $APPLE/emulator/users/$SUB

        # They switch e-mail forwarding off. Apple notifies siwa, and the account says disabled.
        curl -sS -X POST "$APPLE/emulator/users/$SUB/disable-email-forwarding?format=text"; echo
        curl -sS "$SIWA/v1/accounts?client_id=\(clientID)&sub=$SUB" -H "$KEY"; echo

        # In the settings of the iPhone they stop using the app. The state is revoked.
        curl -sS -X POST "$APPLE/emulator/users/$SUB/revoke-consent?format=text"; echo
        curl -sS "$SIWA/v1/credentials/$SUB?client_id=\(clientID)" -H "$KEY"; echo

        # The old token is signed by Apple and not expired, and is refused all the same.
        curl -sS $SIWA/v1/sign-ins -H "$KEY" -H "$JSON" -d "$SIGN_IN"; echo

        # They come back and sign in again. The same account, authorized.
        sleep 2; SIGN_IN=$(curl -sS "$APPLE/emulator/identity-tokens?format=sign-in" -d "{\\"sub\\":\\"$SUB\\",\\"code\\":true}")
        ANSWER=$(curl -sS $SIWA/v1/sign-ins -H "$KEY" -H "$JSON" -d "$SIGN_IN"); echo "$ANSWER"

        # At last they delete the account in the app. siwa revokes its tokens at Apple, proves that they are dead, and erases.
        ACCOUNT=$(echo "$ANSWER" | sed 's/.*"account":{"id":"\\([^"]*\\)".*/\\1/')
        sleep 1; curl -sS -X DELETE $SIWA/v1/accounts/$ACCOUNT -H "$KEY"; echo

        # Nothing personal is left. What happened is still there, in order.
        curl -sS $SIWA/v1/accounts/$ACCOUNT -H "$KEY"; echo
        curl -sS $SIWA/v1/events -H "$KEY"; echo
        """
    }
}
