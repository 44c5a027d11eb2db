import AppAttestation
import NIOHTTP1

extension AppCheckRefusal {
    /// 401: it is not proven that the request comes from the app.
    var problem: Problem {
        switch code {
        case .attestationRequired:
            Problem(
                .unauthorized, code: code.rawValue, title: "Proof of the app required",
                detail: explanation, appCheckCause: cause)
        case .attestationInvalid:
            Problem(
                .unauthorized, code: code.rawValue, title: "Proof of the app invalid",
                detail: explanation, appCheckCause: cause)
        }
    }
}
