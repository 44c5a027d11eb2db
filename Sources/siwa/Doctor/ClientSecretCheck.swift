import AppleAccounts
import AppleIDClient
import AsyncHTTPClient

/// Checks that Apple accepts the client secrets: each key of each team is tried with each client ID, by
/// exchanging an invalid code. Apple checks the secret before the code.
struct ClientSecretCheck: DoctorCheck {
    let settings: ServiceSettings
    let client: HTTPClient
    let isReachable: Bool
    let skew: Int64?
    let secondsSince1970: @Sendable () -> Int64

    func run() async -> [Finding] {
        let name = ClientSecretDiagnosis.name
        guard !settings.signingKeys.isEmpty else { return [.skipped(name, "there is no signing key")] }
        guard isReachable else { return [.skipped(name, "Apple has not answered")] }
        var findings: [Finding] = []
        for (team, location) in settings.signingKeys.sorted(by: { $0.key < $1.key }) {
            // `SigningKeyCheck` reports errors of the files.
            guard let keys = try? SigningKeyFiles.read(location) else { continue }
            let clientIDs = settings.deployment.apps.filter { $0.team == team }.flatMap(\.clientIDs)
            var trials: [ClientSecretTrial] = []
            for key in keys {
                for clientID in clientIDs {
                    trials.append(await attempt(key, team: team, clientID: clientID))
                }
            }
            findings += ClientSecretDiagnosis(trials: trials, skew: skew).findings
        }
        return findings
    }

    private func attempt(_ key: ClientSigningKey, team: TeamID, clientID: ClientID) async -> ClientSecretTrial
    {
        let secrets = SignedClientSecrets(
            teams: [clientID.rawValue: team.rawValue],
            keys: SigningKeyFiles([team.rawValue: .key(key)]), secondsSince1970: secondsSince1970)
        let apple = AppleTokenClient(client: client, endpoints: settings.appleEndpoints, secrets: secrets)
        var refusal: AppleCallError?
        do throws(AppleCallError) {
            _ = try await apple.exchange(
                code: ClientSecretTrial.bogusCode, clientID: clientID.rawValue, redirectURI: nil)
        } catch {
            refusal = error
        }
        return ClientSecretTrial(
            team: team.rawValue, keyID: key.keyID, clientID: clientID.rawValue,
            outcome: ClientSecretTrial.outcome(of: refusal))
    }
}
