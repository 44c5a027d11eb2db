import Composition
import Console
import Encodings
import Foundation
import Pages

/// The addresses of `siwa dev`, as a page of the console and as the text that it prints.
struct DevelopmentStartPage {
    let applePort: Int
    /// The fake Google's port; `nil` if there are no OAuth clients.
    let googlePort: Int?
    let receiverPort: Int
    /// The app's client IDs. The first is the bundle ID.
    let clientIDs: [String]

    var page: ConsolePage {
        ConsolePage(.get, "/start", access: .development, entry: ("Try it", 85)) { _ in
            .page("Try it") {
                Card("In the browser") { "<dl>\n\(links)</dl>" }
                Card("In a terminal") { "<dl>\n\(commands)</dl>" }
                Card("The service itself") { "<dl>\n\(service)</dl>" }
            }
        }
    }

    private func link(_ name: String, to address: String, _ use: String) -> HTML {
        "<dt>\(HTML.link(.text(name), to: address))</dt>\n<dd>\(use)</dd>"
    }

    /// - Parameter id: ID that the copy button uses to find the text.
    private func value(_ id: String, _ text: String, _ use: String) -> HTML {
        """
        <dt><code id="\(id)">\(text)</code> \(HTML.copyButton(for: id))</dt>
        <dd>\(use)</dd>
        """
    }

    @PageBuilder private var links: HTML {
        link(
            "The fake Apple", to: "http://127.0.0.1:\(applePort)/",
            "Users with an Apple Account: they sign in on an iPhone, stop using the app, and delete their account."
        )
        if let googlePort {
            link(
                "The fake Google", to: "http://127.0.0.1:\(googlePort)/",
                "Links accounts, in the browser or with the iPhone app, and shows every request and answer.")
        }
        link(
            "The receivers of events", to: "http://127.0.0.1:\(receiverPort)/",
            "Show each webhook and security event token as it arrives, and fail when you want it.")
        for id in clientIDs.dropFirst() {
            let query = FormEncoding.encode([("client_id", id), ("state", "from-the-start-page")])
            link(
                "Sign in on the web as \(id)", to: "/v1/web/sign-in?\(query)",
                "As a page of your site begins it. The result comes to a page of the fake Apple.")
        }
    }

    @PageBuilder private var commands: HTML {
        let command = StartedProgram.name
        value(
            "tour", "\(command) tour",
            "Follows one user from the first sign-in to the deletion, step by step.")
        value(
            "key", "Authorization: Bearer \(DevelopmentSettings.secret)",
            "The header with the API key of every call of the interface.")
        if googlePort != nil {
            value(
                "risc", "\(command) google risc",
                "Registers the receiver of Google's security events at the fake Google, and tests it. "
                    + "docs/linking.md has the lines.")
        }
    }

    @PageBuilder private var service: HTML {
        link("The interface", to: "/openapi.yaml", "Every call and error code, as OpenAPI 3.1.")
        link("Health", to: "/health", "What works, and what does not.")
        link("Version", to: "/version", "Of this program.")
        if googlePort != nil {
            link(
                "Metadata of the authorization server", to: "/.well-known/openid-configuration",
                "What OAuth clients read first.")
            link(
                "Keys that sign tokens", to: "/oauth/jwks.json", "With which an API checks access tokens.")
        }
    }
}

extension DevelopmentStartPage {
    /// Returns the text that `siwa dev` prints when it is ready. It fits a terminal with 24 lines and 80
    /// columns.
    ///
    /// - Parameter isPermanent: True if the database remains after the run.
    func banner(servicePort: Int, isPermanent: Bool) -> String {
        """

        siwa       http://127.0.0.1:\(servicePort)  leads to everything below
        fake Apple http://127.0.0.1:\(applePort)  users, and signing in on an iPhone
        \(googleLine)receivers  http://127.0.0.1:\(receiverPort)  show the events that siwa sends
        API key    \(DevelopmentSettings.secret)
        \(clients)
        In another terminal:
          \(StartedProgram.name) tour\(options(servicePort))
              follows one user from the first sign-in to the deletion, step by step;
              with --print it prints the commands, to paste
        \(login(servicePort))
        Ctrl-C ends all\(isPermanent ? "; the database is kept" : ", and forgets all: --database keeps it").

        """
    }

    private var googleLine: String {
        googlePort.map { "fake Google http://127.0.0.1:\($0) links accounts with Google\n" } ?? ""
    }

    private var clients: String {
        guard googlePort != nil else { return "" }
        return """

            OAuth client \(DevelopmentClients.google), secret \(DevelopmentClients.googleSecret)
                         \(DevelopmentClients.web), secret \(DevelopmentClients.webSecret)
                         \(DevelopmentClients.native), without a secret
                         \(DevelopmentClients.phone), for a native sign-in

            """
    }

    private func login(_ servicePort: Int) -> String {
        guard googlePort != nil else { return "" }
        let issuer = "http://127.0.0.1:\(servicePort)"
        return """
              \(StartedProgram.name) login --issuer \(issuer) --client-id \(DevelopmentClients.native)
                  signs in as a desktop program does

            """
    }

    /// The `siwa tour` options that differ from its defaults.
    private func options(_ servicePort: Int) -> String {
        var options = ""
        if servicePort != Tour.servicePort { options += " --port \(servicePort)" }
        if applePort != Tour.applePort { options += " --emulator-port \(applePort)" }
        if receiverPort != Tour.receiverPort { options += " --receiver-port \(receiverPort)" }
        if clientIDs[0] != Tour.clientID { options += " --client-id \(clientIDs[0])" }
        return options
    }
}

/// The name under which this program was started, for commands to print.
enum StartedProgram {
    /// True if siwa started this program.
    static var isSiwa: Bool { CommandLine.arguments.first?.split(separator: "/").last == "siwa" }

    static var name: String {
        name(
            argument: CommandLine.arguments.first ?? "siwa",
            directory: FileManager.default.currentDirectoryPath)
    }

    /// Returns the name to use on a command line: a path below the current directory becomes relative, and a
    /// path with a space is quoted.
    static func name(argument: String, directory: String) -> String {
        let isBelow = directory != "/" && argument.hasPrefix(directory + "/")
        let path = isBelow ? String(argument.dropFirst(directory.count + 1)) : argument
        return path.contains(" ") ? "'\(path)'" : path
    }
}
