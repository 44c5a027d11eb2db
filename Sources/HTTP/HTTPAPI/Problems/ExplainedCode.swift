import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import NIOHTTP1
import SignIn

/// A code of a refusal with its meaning, for pages. The pages of the documentation say more.
package struct ExplainedCode: Sendable {
    package let code: String
    /// `nil` for a reason, which is in the log and the metrics and not on the wire.
    package let status: Int?
    package let sentence: String

    /// Codes of problems: the list of `ErrorCode` in `openapi.yaml`.
    package static let problems: [ExplainedCode] = {
        let problems: [Problem] =
            ProblemCode.all.map { Problem($0) }
            + AppleTokenError.Code.allCases.map { AppleTokenError($0).problem }
            + AccountRefusal.Code.allCases.map { AccountRefusal($0).problem }
            + WebRefusal.Code.allCases.map { WebRefusal($0).problem }
            + AppCheckRefusal.Code.allCases.map { AppCheckRefusal($0, cause: .proofMissing).problem }
        var seen: Set<String> = []
        return problems.filter { seen.insert($0.code).inserted }.map {
            ExplainedCode(code: $0.code, status: Int($0.status.code), sentence: $0.detail)
        }
    }()

    /// Codes of OAuth 2.0 that no reason explains.
    package static let oauth: [ExplainedCode] = OAuthError.Code.allCases.compactMap { code in
        let error = TokenEndpointError(OAuthError(code, ""))
        guard error.error.reason == nil, code != .invalidGrant else { return nil }
        return ExplainedCode(
            code: code.rawValue, status: error.status, sentence: "Expected: \(code.expectation)")
    }

    /// Reasons of refused token requests.
    package static let reasons = TokenRefusalReason.allCases.map {
        ExplainedCode(code: $0.rawValue, status: nil, sentence: $0.explanation)
    }
}
