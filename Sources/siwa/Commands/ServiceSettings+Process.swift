import ArgumentParser
import Foundation

extension ServiceSettings {
    /// Of this process. Says what is wrong and ends it with status 78 when the configuration has mistakes.
    static func ofProcess() async throws -> ServiceSettings {
        do {
            return try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
        } catch let mistakes as ConfigurationMistakes {
            Complaint.write(mistakes.description)
            throw ExitCode(78)
        }
    }
}
