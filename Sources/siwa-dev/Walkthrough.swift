import Composition
import Encodings
import StrictJSON

/// One user's lifecycle as commands that need only curl, for `siwa tour` and README.md.
///
/// An interactive zsh does not ignore comments but runs them as commands. So comments contain no quotation
/// marks, which would begin a string that includes the next line.
struct Walkthrough {
    let servicePort: Int
    let applePort: Int
    let receiverPort: Int
    let secret: String
    let clientID: String

    /// The commands, which README.md also contains: at most 12, each below a comment that describes the
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

    /// Comments, each with its command.
    var steps: [(comment: String, command: String)] {
        let lines = lines.split(separator: "\n").map(String.init)
        return stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) }
    }

    /// Returns a program for `sh` that shows each step, waits for Enter, and runs the step. It ends when a
    /// command fails, and when its input ends.
    ///
    /// On a terminal, the program pipes responses to `siwa tour --fold`; its first argument is this program's
    /// path. It first writes the responses to a file, because commands in a pipe could not set variables.
    func script(in layout: TextLayout) -> String {
        let steps = steps.enumerated().map { index, step in
            let comment = layout.wrapped(String(step.comment.dropFirst(2))).joined(separator: "\n")
            let command = layout.wrapped(step.command, indent: 2, hanging: 6).map {
                layout.styled($0, .faint)
            }
            let number = layout.styled("Step \(index + 1) of \(self.steps.count)", .strong)
            return """
                printf '\\n%s\\n%s\\n\\n%s\\n' \(Self.quoted(number)) \(Self.quoted(comment)) \(Self.quoted(command.joined(separator: "\n")))
                printf '\\nEnter runs it, Ctrl-C ends the tour. '; read -r _ || exit 0
                \(layout.columns == nil ? step.command : Self.folded(step.command))
                """
        }
        let folding = """
            out=$(mktemp)
            trap 'rm -f "$out"' EXIT
            trap 'exit 130' INT TERM

            """
        return "set -e\n\(layout.columns == nil ? "" : folding)" + steps.joined(separator: "\n")
            + "\nprintf '\\nThe tour is complete.\\n'\n"
    }

    private static func folded(_ command: String) -> String {
        """
        {
        \(command)
        } > "$out"
        "$1" tour --fold < "$out"
        """
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}

/// A tour response, formatted for a terminal: JSON longer than a line is split with one member per line, and
/// tokens are truncated. The commands do not read the formatted text.
struct FoldedResponse {
    /// Length beyond which a JSON string is truncated.
    private static let longest = 160

    let columns: Int

    /// - Parameter line: JSON or plain text. Plain text is wrapped.
    func lines(of line: String) -> [String] {
        let limits = JSONLimits(depth: 32, members: 4096)
        guard let json = try? JSONValue(parsing: Array(line.utf8), limits: limits) else {
            return TextLayout(columns: columns, hasColors: false).wrapped(line)
        }
        return lines(of: json, after: "", indent: 0, end: "")
    }

    /// - Parameters:
    ///   - lead: Member name with its colon.
    ///   - end: A comma, except after the last member.
    private func lines(of value: JSONValue, after lead: String, indent: Int, end: String) -> [String] {
        let margin = String(repeating: " ", count: indent)
        let whole = margin + lead + Self.text(of: value) + end
        guard whole.count > columns else { return [whole] }
        switch value {
        case .object(let object) where !object.members.isEmpty:
            let last = object.members.count - 1
            return [margin + lead + "{"]
                + object.members.enumerated().flatMap { index, member in
                    lines(
                        of: member.value, after: Self.text(of: .string(member.name)) + ": ",
                        indent: indent + 2, end: index == last ? "" : ",")
                } + [margin + "}" + end]
        case .array(let values) where !values.isEmpty:
            return [margin + lead + "["]
                + values.enumerated().flatMap { index, value in
                    lines(of: value, after: "", indent: indent + 2, end: index == values.count - 1 ? "" : ",")
                } + [margin + "]" + end]
        case .string(let text) where text.count > Self.longest:
            let note = "... (\(text.count) characters)"
            let room = columns - margin.count - lead.count - end.count - note.count - 2
            return [margin + lead + Self.text(of: .string(String(text.prefix(max(4, room))))) + note + end]
        case .object, .array, .string, .null, .bool, .integer, .number: return [whole]
        }
    }

    private static func text(of value: JSONValue) -> String {
        String(decoding: value.serialized(), as: UTF8.self)
    }
}
