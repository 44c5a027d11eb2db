import Composition
import Console
import Encodings
import Foundation

/// The page of the console that leads to everything that can be tried in `siwa dev`.
struct DevelopmentStartPage {
    let applePort: Int
    /// `nil` without OAuth clients.
    let googlePort: Int?
    let receiverPort: Int?
    let servicesIDs: [String]
    let secret: String

    struct Section: Sendable {
        let title: String
        var entries: [Entry]

        init(_ title: String, _ entries: [Entry]) { (self.title, self.entries) = (title, entries) }
    }

    struct Entry: Sendable {
        /// For the button that copies the value; unique on the page.
        var id = ""
        /// `nil` for a value to copy.
        let url: String?
        let name: String
        let text: String

        init(_ name: String, at url: String? = nil, _ text: String) {
            (self.url, self.name, self.text) = (url, name, text)
        }
    }

    private struct Values: Sendable {
        let sections: [Section]
    }

    var page: ConsolePage {
        var sections = [users, terminal, service]
        for place in sections.indices {
            for index in sections[place].entries.indices {
                sections[place].entries[index].id = "value-\(place)-\(index)"
            }
        }
        let values = Values(sections: sections)
        return ConsolePage(
            .get, "/start", access: .development, entry: ConsolePage.Entry("Try it", order: 85)
        ) { _ in .template("start", title: "Try it", values: values) }
    }

    private var users: Section {
        var entries = [
            Entry(
                "The fake Apple", at: "http://127.0.0.1:\(applePort)/",
                "Users with an Apple Account: they sign in on an iPhone, stop using the app, and delete their account."
            )
        ]
        if let googlePort {
            entries.append(
                Entry(
                    "The fake Google", at: "http://127.0.0.1:\(googlePort)/",
                    "Links accounts, in the browser or with the iPhone app, and shows every request and answer."
                ))
        }
        if let receiverPort {
            entries.append(
                Entry(
                    "The receivers of events", at: "http://127.0.0.1:\(receiverPort)/",
                    "Show each webhook and security event token as it arrives, and fail when you want it."))
        }
        for id in servicesIDs {
            let query = FormEncoding.encode([("client_id", id), ("state", "from-the-start-page")])
            entries.append(
                Entry(
                    "Sign in on the web as \(id)", at: "/v1/web/sign-in?\(query)",
                    "As a page of your site begins it. The result comes to a page of the fake Apple."))
        }
        return Section("In the browser", entries)
    }

    private var terminal: Section {
        let command = StartedProgram.name
        let events =
            googlePort == nil
            ? []
            : [
                Entry(
                    "\(command) google risc",
                    "Registers the receiver of Google's security events at the fake Google, and tests it. "
                        + "docs/linking.md has the lines.")
            ]
        return Section(
            "In a terminal",
            [
                Entry(
                    "\(command) tour",
                    "Follows one user from the first sign-in to the deletion, step by step."),
                Entry(
                    "Authorization: Bearer \(secret)",
                    "The header with the API key of every call of the interface."
                ),
            ] + events)
    }

    private var service: Section {
        let clients =
            googlePort == nil
            ? []
            : [
                Entry(
                    "Metadata of the authorization server", at: "/.well-known/openid-configuration",
                    "What OAuth clients read first."),
                Entry(
                    "Keys that sign tokens", at: "/oauth/jwks.json", "With which an API checks access tokens."
                ),
            ]
        return Section(
            "The service itself",
            [
                Entry(
                    "The interface", at: "/openapi.yaml", "Every call and error code, as OpenAPI 3.1."),
                Entry("Health", at: "/health", "What works, and what does not."),
                Entry("Version", at: "/version", "Of this program."),
            ] + clients)
    }
}

/// The output of `siwa dev` when it is ready. It fits a terminal of 24 lines and 80 columns.
struct DevelopmentBanner {
    let servicePort: Int
    let applePort: Int
    /// `nil` without OAuth clients.
    let googlePort: Int?
    let receiverPort: Int
    let secret: String
    let clientID: String
    /// True if the database is kept after the run.
    let isPermanent: Bool
    /// Name by which this program was started.
    let program: String

    var text: String {
        """

        siwa       http://127.0.0.1:\(servicePort)  leads to everything below
        fake Apple http://127.0.0.1:\(applePort)  users, and signing in on an iPhone
        \(google)receivers  http://127.0.0.1:\(receiverPort)  show the events that siwa sends
        API key    \(secret)
        \(clients)
        In another terminal:
          \(program) tour\(options)
              follows one user from the first sign-in to the deletion, step by step;
              with --print it prints the commands, to paste
        \(login)
        Ctrl-C ends all\(isPermanent ? "; the database is kept" : ", and forgets all: --database keeps it").

        """
    }

    private var google: String {
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

    private var login: String {
        guard googlePort != nil else { return "" }
        let issuer = "http://127.0.0.1:\(servicePort)"
        return """
              \(program) login --issuer \(issuer) --client-id \(DevelopmentClients.native)
                  signs in as a desktop program does

            """
    }

    /// Options of `siwa tour` that differ from its defaults.
    private var options: String {
        var options = ""
        if servicePort != Tour.servicePort { options += " --port \(servicePort)" }
        if applePort != Tour.applePort { options += " --emulator-port \(applePort)" }
        if receiverPort != Tour.receiverPort { options += " --receiver-port \(receiverPort)" }
        if clientID != Tour.clientID { options += " --client-id \(clientID)" }
        return options
    }
}

/// The name by which this program was started, for commands that it prints.
enum StartedProgram {
    /// True when siwa has started this program.
    static var isSiwa: Bool { CommandLine.arguments.first?.split(separator: "/").last == "siwa" }

    static var name: String {
        name(
            argument: CommandLine.arguments.first ?? "siwa",
            directory: FileManager.default.currentDirectoryPath)
    }

    /// Returns the name for a command line: a path below the current directory becomes relative, and a path
    /// with a space is quoted.
    static func name(argument: String, directory: String) -> String {
        let isBelow = directory != "/" && argument.hasPrefix(directory + "/")
        let path = isBelow ? String(argument.dropFirst(directory.count + 1)) : argument
        return path.contains(" ") ? "'\(path)'" : path
    }
}
