import ArgumentParser
import AsyncHTTPClient
import Composition
import Encodings
import Foundation
import OAuthLogin

/// The `siwa login` command.
struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: DevelopmentCommand.login.abstract,
        discussion: """
            Follows RFC 8252 (OAuth 2.0 for Native Apps): it reads the server's metadata, listens on a free \
            port of 127.0.0.1, opens the browser with an authorization request that has PKCE, state and \
            nonce, accepts one response, and exchanges the code. It works with every server that publishes \
            metadata, for example with Google's.

              siwa login --issuer https://signin.example.com \\
                --client-id desktop --scope "openid email"

            On a machine without a browser, --device prints an address and a code for a browser elsewhere \
            (RFC 8628), where the server and the client allow it.

            Run it again to refresh the tokens. They are stored in a file that only you can read, below \
            $XDG_STATE_HOME/siwa/login or ~/.local/state/siwa/login; no token is printed. --logout revokes \
            them and removes the file.
            """)

    @Option(help: "The server's issuer identifier, exactly as in its metadata.")
    var issuer: String

    @Option(name: .customLong("client-id"), help: "The client's ID at the server.")
    var clientID: String

    @Option(
        help:
            "A file with the client's secret, for servers that issue one to desktop clients.",
        completion: .file())
    var clientSecretFile: String?

    @Option(help: "The scope to ask for. Without it, the server decides.")
    var scope: [String] = []

    @Option(
        help:
            "The path of the redirect URI http://127.0.0.1:PORT, if the client is registered with one.")
    var redirectPath = ""

    @Flag(help: "Print the URL to open instead of opening a browser.")
    var noBrowser = false

    @Flag(
        help: "Print an address and a code for a browser on any device, and wait until the user agrees there."
    )
    var device = false

    @Flag(help: "Revoke the stored tokens and remove the file.")
    var logout = false

    func validate() throws {
        let isPath =
            redirectPath.isEmpty
            || (redirectPath.hasPrefix("/") && redirectPath.utf8.count <= 256
                && redirectPath.hasOnlyLettersDigits(and: "/-._~"))
        guard isPath else {
            throw ValidationError(
                "--redirect-path must begin with a slash and have only unreserved characters.")
        }
    }

    func run() async throws {
        do {
            let issuer = try IssuerURL(issuer)
            let client = try ClientCredentials(id: clientID, secret: secret())
            let environment = ProcessInfo.processInfo.environment
            let scope = try RequestedScope(scope)
            let file = try TokenFile(environment: environment, issuer: issuer, clientID: clientID)
            let browser = SystemBrowser(environment: environment)
            let open: @Sendable (String) -> Bool = { browser.open($0) }
            let openBrowser = noBrowser ? nil : open
            let (path, endsSession, usesDevice) = (redirectPath, logout, device)
            try await HTTPClient.withHTTPClient(configuration: LoginTransport.configuration) { http in
                let flow = LoginFlow(
                    issuer: issuer, client: client, scope: scope, redirectPath: path, file: file,
                    transport: LoginTransport(client: http),
                    now: { Int64(Date().timeIntervalSince1970) },
                    openBrowser: openBrowser, say: Self.say, usesDevice: usesDevice)
                if endsSession { try await flow.signOut() } else { try await flow.signIn() }
            }
        } catch let error as LoginError {
            ErrorMessage.write("siwa login has failed: \(error.message)")
            throw ExitCode.failure
        }
    }

    /// Reads the client secret. Throws `LoginError` if the file cannot be read.
    private func secret() throws -> String? {
        guard let clientSecretFile else { return nil }
        guard let handle = FileHandle(forReadingAtPath: clientSecretFile),
            let data = try? handle.read(upToCount: 4097), data.count <= 4096
        else {
            throw LoginError(
                .optionMalformed, "--client-secret-file \(clientSecretFile) cannot be read, or is too long")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Prints unbuffered, so that the address appears immediately even in a pipe.
    private static let say: @Sendable (String) -> Void = { text in
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}
