import ArgumentParser
import Composition
import Foundation
import GoogleEmulator

/// The options of `siwa emulate --google`: the values to enter in Google's console.
struct GoogleOptions: ParsableArguments {
    /// The fake Google's default port. The fake Apple uses 8081.
    static let port = 8082

    @Flag(help: "Run the fake Google instead, which links accounts with an authorization server.")
    var google = false

    @Option(help: "The authorization server's issuer; its endpoints are those of siwa.")
    var issuer = "http://127.0.0.1:8080"

    @Option(name: .customLong("oauth-client-id"), help: "The client ID that the server has for Google.")
    var clientID = "google"

    @Option(
        name: .customLong("oauth-client-secret-file"), help: "A file with the secret of that client.",
        completion: .file())
    var secretFile: String?

    @Option(
        name: .customLong("api-key-file"),
        help: "A file with an API key of the app's backend, for App Flip and introspection.",
        completion: .file())
    var apiKeyFile: String?

    @Option(help: "A scope to ask for. Can be repeated.")
    var scope: [String] = []

    @Option(help: "The project in Google's console, a part of the redirect URI.")
    var project = "fake-project"

    @Option(name: .customLong("google-client-id"), help: "The aud of the fake Google's own tokens.")
    var googleClientID = "123-fake.apps.googleusercontent.com"

    @Option(
        name: .customLong("apple-url"),
        help: "The fake Apple, from which the emulated iPhone app gets identity tokens.")
    var appleURL: String?

    func configuration(host: String, port: Int, allowedHosts: [String]) throws -> GoogleEmulatorConfiguration
    {
        var configuration = GoogleEmulatorConfiguration(
            clientID: clientID, clientSecret: try secretFile.map(Self.text) ?? "", scopes: scope)
        (configuration.host, configuration.port, configuration.hostNames) = (host, port, allowedHosts)
        (configuration.projectID, configuration.googleClientID) = (project, googleClientID)
        (configuration.appleURL, configuration.apiKey) = (appleURL, try apiKeyFile.map(Self.text))
        configuration.server = LinkedServer(issuer: issuer)
        return configuration
    }

    /// Returns the single line that a file contains.
    static func text(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 4096 else {
            throw FileUnreadable(path: path)
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    struct FileUnreadable: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) cannot be read; a file with one line was expected" }
    }
}
