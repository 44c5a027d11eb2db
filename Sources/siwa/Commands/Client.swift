import AppAttestation
import ArgumentParser
import AuthorizationServer
import Composition
import Foundation
import HTTPAPI

/// The `siwa client` command.
struct Client: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create OAuth clients: \(ClientNew.list(ClientKind.all.map(\.plural), "and")).",
        subcommands: [ClientNew.self, ClientTexts.self])
}

/// The `siwa client new` command.
struct ClientNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Print a client for the section oauth of the configuration file, and its secret.",
        discussion: """
            Paste the lines under oauth.clients. Into a file go only these lines, and the secret is printed on \
            standard error. Give the secret to the client and do not store it; the \
            service needs only the hash. To rotate a secret, run the command again and add the new hash \
            beside the old one; remove the old one when the client uses the new secret.
            """)

    @Option(help: "\(ClientNew.list(ClientKind.all.map(\.name), "or")).")
    var kind: String

    @Option(help: "The client's ID: 1 to 128 characters of A-Z a-z 0-9 - . _ ~.")
    var id: String

    @Option(help: "The primary client ID of the app whose users sign in.")
    var app: String

    @Option(help: "The name that users see. Default: the ID.")
    var name: String?

    @Option(name: .customLong("scope"), help: "A scope that the client may ask for; repeat it for several.")
    var scopes: [String] = []

    @Flag(
        name: .customLong("imply-openid"),
        help: "Let email and profile imply openid, for a client that asks for them alone.")
    var implyOpenID = false

    @Option(
        name: .customLong("redirect-uri"),
        help: "A redirect URI; repeat it for several. Those of google_linking follow from the project.")
    var redirectURIs: [String] = []

    @Option(help: "For native: ios, android, macos, windows, linux or uwp.")
    var platform: String?

    @Flag(help: "For native: accept redirect URIs with http://localhost.")
    var allowLocalhost = false

    @Flag(
        help:
            "For native on android: accept a custom scheme, which any app can claim. Use an App Link if you can."
    )
    var allowCustomScheme = false

    @Flag(
        name: .customLong("native-sign-in"),
        help: "For native: exchange Apple's identity tokens of the app for tokens, without a browser.")
    var allowNativeSignIn = false

    @Flag(
        name: .customLong("device-grant"),
        help: "For native and web: let devices without a browser ask for a user (RFC 8628).")
    var allowDeviceGrant = false

    @Option(
        help: "With --native-sign-in or --app-check: the bundle ID, if it is not the app's primary client ID."
    )
    var bundleID: String?

    @Option(
        help:
            "For native: \(ClientNew.list(AppCheckMode.allCases.map(\.rawValue), "or")) App Check of the token requests. The bundle ID needs an entry in app_attest of its app."
    )
    var appCheck: String?

    @Option(help: "With --app-check: the first version of the app that attests, like 4.2.")
    var firstAttestingVersion: String?

    @Flag(help: "For web: accept a nonce in place of PKCE, for a library that cannot do PKCE.")
    var withoutPKCE = false

    @Option(help: "For google_linking: the project ID of Google's console.")
    var projectID: String?

    @Option(
        name: .customLong("google-client-id"),
        help: "For google_linking: the aud of Google's own tokens; repeat it for several.")
    var googleClientIDs: [String] = []

    @Flag(help: "For google_linking: with App Flip, where the user's iPhone app links by one tap.")
    var appFlip = false

    @Flag(
        help:
            "Also print a secret for a \(ClientNew.publicKinds) client. It protects nothing: an app can be read."
    )
    var withSecret = false

    @Flag(help: "Accept what only development allows, such as http redirect URIs.")
    var development = false

    func run() throws {
        let lines: NewClientLines
        do {
            lines = try NewClientLines(of: draft, withSecret: withSecret, isDevelopment: development)
        } catch {
            throw ValidationError(NewClientMistakes(error, id: id).description)
        }
        if let secret = lines.secret {
            // Writes only the configuration lines to a file, because the secret must not be stored there.
            if TerminalStyle.isFile(STDOUT_FILENO) {
                ErrorMessage.write("secret: \(secret)")
            } else {
                print("secret: \(secret)")
                print("")
            }
        }
        print(lines.yaml)
    }

    private static let publicKinds = list(ClientKind.all.filter { !$0.isConfidential }.map(\.name), "or")

    /// Returns the words as a list for a sentence.
    fileprivate static func list(_ words: [String], _ conjunction: String) -> String {
        guard words.count > 1, let last = words.last else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }

    /// The entry for the configuration file, without default values.
    var draft: ClientDraft {
        var client = ClientDraft(id: id, kind: kind, app: app, name: ["en": name ?? id])
        client.scopes = scopes
        client.impliesOpenID = implyOpenID ? true : nil
        client.redirectURIs = redirectURIs
        client.platform = platform
        client.allowsLocalhost = allowLocalhost ? true : nil
        client.allowsCustomScheme = allowCustomScheme ? true : nil
        // Only the app developer's own client may have a native sign-in.
        client.isFirstParty = allowNativeSignIn ? true : nil
        client.allowsNativeSignIn = allowNativeSignIn ? true : nil
        client.allowsDeviceGrant = allowDeviceGrant ? true : nil
        client.bundleID = bundleID
        client.appCheck = appCheck
        client.firstAttestingVersion = firstAttestingVersion
        client.requiresPKCE = withoutPKCE ? false : nil
        client.projectID = projectID
        client.googleClientIDs = googleClientIDs
        client.appFlip = appFlip ? true : nil
        return client
    }
}

/// The `siwa client texts` command.
struct ClientTexts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Print the texts of all pages in English, as a file to translate.",
        discussion: """
            Write the output to a file that is named as its language, like fr.yaml, translate the texts, and set \
            oauth.texts_directory to its directory. Keep the names, and the words in braces: they stand for values.
            """)

    func run() {
        print(Self.template)
    }

    /// The file, as YAML. Quoted YAML text uses the same escapes as JSON.
    static var template: String {
        var lines = ["# The texts of the pages. Translate them, and keep the names and the words in braces."]
        var open: [Substring] = []
        for (path, text) in TranslationDraft.texts(of: PageTexts.parts) {
            let names = path.split(separator: ".")
            let groups = names.dropLast()
            let common = zip(open, groups).prefix { $0 == $1 }.count
            for level in common..<groups.count {
                lines.append("\(indent(level))\(groups[level]):")
            }
            open = Array(groups)
            lines.append("\(indent(groups.count))\(names[groups.count]): \"\(quoted(text))\"")
        }
        return lines.joined(separator: "\n")
    }

    private static func indent(_ level: Int) -> String { String(repeating: "  ", count: level) }

    private static func quoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
