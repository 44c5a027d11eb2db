import ArgumentParser
import Foundation

extension ServiceSettings {
    /// Reads the settings from the environment of this process. When the configuration has mistakes, it
    /// prints them and ends the process with status 78.
    static func ofProcess() async throws -> ServiceSettings {
        do {
            return try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
        } catch let mistakes as ConfigurationMistakes {
            Complaint.write(mistakes.description)
            throw ExitCode(78)
        }
    }
}
