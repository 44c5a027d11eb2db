import Encodings

/// Refuses an object of another app. It also stops an app that was signed again by another team.
struct AppIDCheck: Sendable {
    let appID: AppID

    func check(_ data: AuthenticatorData) throws(AppAttestationError) {
        guard data.appIDHash.elementsEqual(appID.digest) else {
            throw AppAttestationError(
                .appIDMismatch, found: Hexadecimal.encode(data.appIDHash),
                expected: "\(Hexadecimal.encode(appID.digest)), the hash of \(appID.text)")
        }
    }
}
