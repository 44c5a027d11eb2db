import AppleIDClient
import ArgumentParser
import AsyncHTTPClient
import Composition
import Foundation
import KeySets
import StrictJSON

/// The `siwa google` command.
struct Google: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Register the receiver of Google's security events, and test it.",
        subcommands: [GoogleRISC.self])
}

/// The `siwa google risc` command.
struct GoogleRISC: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "risc",
        abstract: "Google's Cross-Account Protection (RISC), which has no field in Google's console.",
        discussion: """
            Needs a project in which the RISC API is enabled, and the JSON key file of a service account of \
            that project with the role RISC Configuration Admin (roles/riscconfigs.admin). The project is that \
            of google_client_ids. The file is used on this machine only: Google gets a token that the key \
            has signed, which is valid for an hour.

            The URL comes from the configuration of siwa serve, or from --url.
            """,
        subcommands: [RegisterEvents.self, EventsStatus.self, VerifyEvents.self, UnregisterEvents.self])
}

/// The `siwa google risc status` command.
struct EventsStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what is registered at Google.",
        discussion: "The exit status is 0 when it is what this configuration wants, otherwise 1.")

    @OptionGroup var options: EventStreamOptions

    func run() async throws {
        try await options.run { context async throws(EventStreamError) in
            try await EventRegistration(of: context.client, expectedURL: context.receiverURL())
        }
    }
}

/// The `siwa google risc register` command.
struct RegisterEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Let Google send its security events to this service.",
        discussion: """
            Replaces what is registered for the project, and enables it. Run it again after a change of the \
            service's URL; run twice it changes nothing more.
            """)

    @OptionGroup var options: EventStreamOptions

    func run() async throws {
        try await options.run { context async throws(EventStreamError) in
            let url = try context.receiverURL()
            let client = context.client
            try await client.update(EventStream(url: url, events: EventStream.wantedEvents))
            if try await client.status() != .enabled { try await client.setStatus(isEnabled: true) }
            return try await EventRegistration(of: client, expectedURL: url)
        }
    }
}

/// The `siwa google risc unregister` command.
struct UnregisterEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unregister",
        abstract: "Stop Google's security events for the project.",
        discussion: """
            Google's API can disable a registration, not remove it; register enables it again. Without a \
            registration nothing is done, and the exit status is 0 too.
            """)

    @OptionGroup var options: EventStreamOptions

    func run() async throws {
        try await options.perform(.key) { context async throws(EventStreamError) in
            let client = context.client
            var word = "not registered"
            if try await client.stream() != nil {
                try await client.setStatus(isEnabled: false)
                word = try await client.status().word
            }
            return EventStreamOptions.Result(
                rows: [("service account", client.key.email), ("status", word)],
                json: [("service_account", .string(client.key.email)), ("status", .string(word))])
        }
    }
}

/// The options shared by all `siwa google risc` commands.
struct EventStreamOptions: ParsableArguments {
    @Option(
        help: "The JSON key file of the service account. Default: SIWA_GOOGLE_SERVICE_ACCOUNT_FILE.",
        completion: .file())
    var serviceAccountFile: String?

    @Option(help: "The URL that receives the events. Default: from the configuration.")
    var url: String?

    @Option(help: "The URL of the fake Google, in place of Google. Default: SIWA_GOOGLE_BASE_URL.")
    var googleURL: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// A command's output and exit status.
    struct Result {
        let rows: [(name: String, value: String)]
        let json: [(String, JSONValue)]
        /// False if the exit status is 1.
        var isGood = true
    }

    /// A value that a command reads from the configuration when its option is missing.
    enum Need {
        case key, receiver
        /// The database. The associated value is the value of `--database`.
        case database(String?)
    }

    /// Runs a command that prints a registration.
    func run(
        _ body: (EventStreamContext) async throws(EventStreamError) -> EventRegistration
    ) async throws {
        try await perform(.receiver) { context async throws(EventStreamError) in
            let registration = try await body(context)
            return Result(
                rows: registration.rows, json: registration.json.members.map { ($0.name, $0.value) },
                isGood: registration.fault == nil)
        }
    }

    /// Runs a command, prints its result or its error, and ends with the exit status.
    func perform(
        _ need: Need,
        _ body: (EventStreamContext) async throws(EventStreamError) -> Result
    ) async throws {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        let result: Swift.Result<Result, any Error>
        do {
            let context = try await context(http, need)
            result = .success(try await body(context))
        } catch {
            result = .failure(error)
        }
        try? await http.shutdown()
        switch result {
        case .success(let result):
            print(json ? Self.json(result) : Self.table(result))
            if !result.isGood { throw ExitCode.failure }
        case .failure(let error):
            ErrorMessage.write("siwa google risc has failed: \(ErrorMessage.text(for: error))")
            throw ExitCode.failure
        }
    }

    private func context(_ http: HTTPClient, _ need: Need) async throws -> EventStreamContext {
        var location: DatabaseLocation?
        if case .database(let text?) = need {
            location = try? DatabaseLocation(url: text)
            guard location != nil else {
                throw ValidationError(
                    "--database must be a URL like sqlite:///path or postgres://host/database.")
            }
        }
        var endpoints: GoogleEndpoints?
        if let googleURL {
            endpoints = GoogleEndpoints(baseURL: googleURL)
            if endpoints == nil {
                throw ValidationError(
                    "--google-url must be an http or https URL without user, query and fragment.")
            }
        }
        let environment = ProcessInfo.processInfo.environment
        let settings =
            try await needsSettings(need, environment) ? SettingsReader.read(environment: environment) : nil
        guard let file = serviceAccountFile ?? settings?.googleServiceAccountFile else {
            throw ValidationError(
                "--service-account-file or SIWA_GOOGLE_SERVICE_ACCOUNT_FILE is needed: the JSON key file of a "
                    + "service account with the role roles/riscconfigs.admin.")
        }
        let key = try ServiceAccountKey(file: file)
        if Self.isOpenToOthers(file) {
            ErrorMessage.write(
                "warning: other users of this machine can read \(file); run: chmod 600 \(file)")
        }
        return try EventStreamContext(
            key: key, endpoints: endpoints ?? settings?.googleEndpoints ?? .google,
            url: url ?? settings?.googleEventsURL, location: location ?? settings?.database, http: http)
    }

    /// Returns true if the options leave a required value unset. The commands also run when no service is
    /// configured.
    private func needsSettings(_ need: Need, _ environment: [String: String]) -> Bool {
        let isOpen =
            switch need {
            case .key: false
            case .receiver: url == nil
            case .database(let text): text == nil
            }
        let namesFake = googleURL == nil && environment[Setting.googleBaseURL.name] != nil
        return isOpen || namesFake || serviceAccountFile == nil
    }

    private static func isOpenToOthers(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue else { return false }
        return mode & 0o077 != 0
    }

    private static func table(_ result: Result) -> String {
        result.rows.map { name, value in
            name + String(repeating: " ", count: max(2, 18 - name.count)) + value
        }.joined(separator: "\n")
    }

    private static func json(_ result: Result) -> String {
        String(decoding: JSONValue.object(JSONObject(result.json)).serialized(), as: UTF8.self)
    }
}
