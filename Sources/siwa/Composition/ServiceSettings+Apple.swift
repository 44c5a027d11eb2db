import AppAttestation
import AppleAccounts
import AppleIDClient
import AsyncHTTPClient

extension ServiceSettings {
    /// The client for calls to Apple, with the signing keys of each team.
    func tokenClient(over client: HTTPClient, clock: AppleClock? = nil) -> AppleTokenClient {
        let teams = deployment.apps.flatMap { app in app.clientIDs.map { ($0.rawValue, app.team.rawValue) } }
        let locations = signingKeys.map { ($0.key.rawValue, $0.value) }
        return AppleTokenClient(
            client: client, endpoints: appleEndpoints,
            secrets: SignedClientSecrets(
                teams: Dictionary(uniqueKeysWithValues: teams),
                keys: SigningKeyFiles(Dictionary(uniqueKeysWithValues: locations)),
                secondsSince1970: { ProcessObservation.millisecondsSince1970() / 1000 }),
            clock: clock)
    }

    /// Passes the client for calls to Apple to `body`, for a command. Shuts the HTTP client down afterwards.
    func withAppleClient<Result>(_ body: (AppleTokenClient) async throws -> Result) async throws -> Result {
        try await HTTPClient.withHTTPClient(configuration: .apple()) { try await body(tokenClient(over: $0)) }
    }
}

extension ServiceSettings {
    /// Roots of App Attest. The roots of the fake Apple are only for development with the fake Apple, because
    /// their private keys are public.
    var appAttestRoots: AppAttestRoots {
        environment == .development && appleEndpoints != .apple ? .emulator : .apple
    }
}
