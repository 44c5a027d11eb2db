import AppleAccounts
import AppleIDClient
import AsyncHTTPClient
import KeySets

extension ServiceSettings {
    /// A client for the calls of a command, for as long as it takes.
    func withAppleClient<Result>(_ body: (AppleTokenClient) async throws -> Result) async throws -> Result {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        let teams = deployment.apps.flatMap { app in app.clientIDs.map { ($0.rawValue, app.team.rawValue) } }
        let locations = signingKeys.map { ($0.key.rawValue, $0.value) }
        let secrets = SignedClientSecrets(
            teams: Dictionary(uniqueKeysWithValues: teams),
            keys: SigningKeyFiles(Dictionary(uniqueKeysWithValues: locations)),
            secondsSince1970: { SystemKeySetClock().millisecondsSince1970 / 1000 })
        do {
            let result = try await body(
                AppleTokenClient(client: http, endpoints: appleEndpoints, secrets: secrets))
            try await http.shutdown()
            return result
        } catch {
            try? await http.shutdown()
            throw error
        }
    }
}
