import AppAttestation
import AppleIdentity

/// The page and the section that explain a code.
struct DocumentationPlace: Sendable, Equatable {
    let file: String
    let heading: String

    init(_ file: String, _ heading: String) {
        (self.file, self.heading) = (file, heading)
    }

    /// - Parameters:
    ///   - code: `nil` for an error without a code.
    ///   - isTokenRequest: True if the code is the reason of a refused token request.
    init(code: String?, isTokenRequest: Bool) {
        let code = code ?? ""
        if isTokenRequest {
            self.init("docs/oauth.md", "Why a token request was refused")
        } else if AppCheckRefusal.Code(rawValue: code) != nil || code.hasPrefix("attestation_key") {
            self.init("docs/app-check.md", "Refusals")
        } else if AppleTokenError.Code(rawValue: code) != nil {
            self.init("docs/api.md", "The token (401, 403)")
        } else {
            self.init("docs/api.md", "Errors")
        }
    }

    /// All places that a code can have. A test looks for their headings.
    static let all: [DocumentationPlace] = [
        DocumentationPlace(code: nil, isTokenRequest: true),
        DocumentationPlace(code: AppCheckRefusal.Code.attestationRequired.rawValue, isTokenRequest: false),
        DocumentationPlace(code: AppleTokenError.Code.tokenExpired.rawValue, isTokenRequest: false),
        DocumentationPlace(code: nil, isTokenRequest: false),
    ]
}
