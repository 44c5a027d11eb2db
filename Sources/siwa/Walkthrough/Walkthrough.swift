/// The life of one user as commands that need only curl: `siwa tour`, and README.md.
///
/// An interactive zsh does not ignore comments but runs them as commands. Comments contain no quotation
/// marks, because a quotation mark would begin a string that includes the next line.
struct Walkthrough {
    let servicePort: Int
    let applePort: Int
    let receiverPort: Int
    let secret: String
    let clientID: String

    /// The commands alone, which are in README.md too: at most 12, each below a comment that describes the
    /// response.
    var lines: String {
        """
        # Names that the other commands need.
        SIWA=http://127.0.0.1:\(servicePort); APPLE=http://127.0.0.1:\(applePort); RECEIVER=http://127.0.0.1:\(receiverPort); KEY="Authorization: Bearer \(secret)"

        # Ada, who hides the e-mail address, signs in on an iPhone. Apple gives the app an identity token, a code and, at the first sign-in only, the name. SUB is the user ID that Apple has for Ada.
        SUB=$(curl -sS "$APPLE/emulator/users?format=text" -d '{"first_name":"Ada","last_name":"Lovelace","hide_email":true}'); SIGN_IN=$(curl -sS "$APPLE/emulator/identity-tokens?format=sign-in" -d "{\\"sub\\":\\"$SUB\\",\\"code\\":true}")

        # The app sends them to its backend, and the backend posts them to siwa. The response has a new account.
        curl -sS $SIWA/v1/sign-ins -H "$KEY" --json "$SIGN_IN"; echo

        # The account a second later. refresh_token is held, because siwa has exchanged the code at Apple.
        sleep 1; curl -sS "$SIWA/v1/accounts?client_id=\(clientID)&sub=$SUB" -H "$KEY"; echo

        # In the settings of the iPhone the user stops using the app. Apple notifies siwa, which returns 200. The state is revoked.
        curl -sS -X POST "$APPLE/emulator/users/$SUB/revoke-consent?format=text"; echo; curl -sS "$SIWA/v1/credentials/$SUB?client_id=\(clientID)" -H "$KEY"; echo

        # The first token again. The signature is valid and the token is not expired, but siwa refuses it as credential_revoked.
        curl -sS $SIWA/v1/sign-ins -H "$KEY" --json "$SIGN_IN"; echo

        # The genuine app, by App Attest: the iPhone makes a key, Apple attests it for a challenge, and the backend registers it.
        challenge() { curl -sS $SIWA/v1/app-attest/challenges -H "$KEY" --json "{\\"purpose\\":\\"$1\\",\\"client_id\\":\\"\(clientID)\\"}" | cut -d'"' -f4; }; PHONE=$(curl -sS "$APPLE/emulator/app-attest/keys?format=registration" -d "{\\"challenge\\":\\"$(challenge attestation)\\"}"); curl -sS $SIWA/v1/app-attest/keys -H "$KEY" --json "$PHONE"; echo

        # The user signs in once more, which gives a new token. The key signs an assertion that vouches for it.
        sleep 2; SIGN_IN=$(curl -sS "$APPLE/emulator/identity-tokens?format=sign-in" -d "{\\"sub\\":\\"$SUB\\",\\"code\\":true}"); PROOF=$(curl -sS "$APPLE/emulator/app-attest/assertions?format=text" -d "{\\"key_id\\":\\"$(echo "$PHONE" | cut -d'"' -f4)\\",\\"challenge\\":\\"$(challenge assertion)\\",\\"vouch_for\\":\\"$(echo "$SIGN_IN" | cut -d'"' -f4)\\"}")

        # The same account. Its credential is authorized again, and app_check says that the app is verified.
        ANSWER=$(curl -sS $SIWA/v1/sign-ins -H "$KEY" --json "${SIGN_IN%?},\\"attestation\\":$PROOF}"); echo "$ANSWER"

        # The user deletes the account in the app. siwa erases the account, revokes its token at Apple and proves the revocation.
        sleep 1; curl -sS -X DELETE $SIWA/v1/accounts/$(echo "$ANSWER" | cut -d'"' -f6) -H "$KEY"; echo

        # The events in order, without personal data. They tell the backend when to sign a user out.
        curl -sS $SIWA/v1/events -H "$KEY"; echo

        # Another user signs in and stops using the app. siwa tells two receivers at once, by a webhook and by a signed token. Their page at RECEIVER shows both.
        SUB=$(curl -sS -X POST "$APPLE/emulator/users?format=text"); curl -sS $SIWA/v1/sign-ins -H "$KEY" -o /dev/null --json "$(curl -sS "$APPLE/emulator/identity-tokens?format=sign-in" -d "{\\"sub\\":\\"$SUB\\"}")"; curl -sS -X POST "$APPLE/emulator/users/$SUB/revoke-consent?format=text"; echo; sleep 2; curl -sS "$RECEIVER/control/messages?format=text&type=credential_revoked&limit=2"
        """
    }

    /// Pairs of a comment and its command.
    var steps: [(comment: String, command: String)] {
        let lines = lines.split(separator: "\n").map(String.init)
        return stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) }
    }

    /// A program for `sh` that shows each step, waits for Enter, and carries it out. It ends at the first command
    /// that fails, and at the end of its input.
    var script: String {
        let steps = steps.map { step in
            """
            printf '\\n%s\\n\\n%s\\n' \(Self.quoted(step.comment)) \(Self.quoted("  " + step.command))
            printf '\\nEnter runs it, Ctrl-C ends the tour. '; read -r _ || exit 0
            \(step.command)
            """
        }
        return "set -e\n" + steps.joined(separator: "\n") + "\nprintf '\\nThe tour is complete.\\n'\n"
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
