import AppAttestation
import NIOHTTP1

extension AppCheckRefusal {
    /// 401: it is not proven that the request comes from the app.
    var problem: Problem {
        switch code {
        case .attestationRequired:
            Problem(
                .unauthorized, code: code.rawValue, title: "Proof of the app required",
                detail:
                    "The request must have a proof of App Attest in the member attestation, and has none.",
                appCheckCause: cause)
        case .attestationInvalid:
            Problem(
                .unauthorized, code: code.rawValue, title: "Proof of the app invalid",
                detail:
                    "The proof of App Attest does not hold. With re_attest the app makes a new key and attests it.",
                appCheckCause: cause)
        }
    }
}
