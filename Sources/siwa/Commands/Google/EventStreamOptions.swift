import AppleIDClient
import ArgumentParser
import AsyncHTTPClient
import Foundation
import KeySets
import StrictJSON

/// The options that all commands of `siwa google risc` have.
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

    /// Output of a command.
    struct Result {
        let rows: [(name: String, value: String)]
        let json: [(String, JSONValue)]
        /// False if the exit status is 1.
        var isGood = true
    }

    /// Values that a command takes from the configuration when no option has it.
    enum Need {
        case key, receiver
        /// With the value of `--database`.
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

    /// Returns `true` if the options leave something open. The commands also run where the service is not
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
