import Foundation

/// A refusal, or the lack of a usable response. Branch on `code`, which never changes its meaning.
///
/// Codes with a `requestID` come from siwa; docs/api.md lists them. The package makes these codes itself:
/// `unreachable` (no complete response in time; siwa may have executed the call), `unavailable` (a 5xx or 429 of
/// a proxy), `unexpected_response` (not siwa's response: check the URL), `misconfigured` (an option of the client
/// is missing or malformed), and the codes that the methods name.
public struct SiwaError: Error, Sendable {
    /// The reason, such as `nonce_used`.
    public let code: String
    /// The HTTP status, or `nil` without a response.
    public let status: Int?
    /// A sentence for the log. It contains no token, address or key.
    public let detail: String
    /// The ID of the request in siwa's log.
    public let requestID: String?
    /// Seconds to wait before the same call can succeed.
    public let retryAfter: Int?
    /// With `attestation_required` and `attestation_invalid`: the reason.
    public let cause: String?
    /// With `cause`: true if the app can continue with a new key that it attests.
    public let reAttest: Bool?

    /// Makes an error of the backend's own, which the app gets in the form of siwa's refusals.
    public init(
        _ code: String, status: Int? = nil, detail: String = "", requestID: String? = nil,
        retryAfter: Int? = nil,
        cause: String? = nil, reAttest: Bool? = nil
    ) {
        self.code = code
        self.status = status
        self.detail = detail
        self.requestID = requestID
        self.retryAfter = retryAfter
        self.cause = cause
        self.reAttest = reAttest
    }

    /// True if the same call can succeed later.
    public var isTemporary: Bool { code == "unreachable" || status == 429 || status ?? 0 >= 500 }

    /// The status and the JSON for the app, if a call for one of the app's requests threw this error.
    ///
    /// A refusal keeps its status and code. 503 `try_again` means that the app tries again later. 500 is a
    /// mistake of the backend, such as a wrong API key: log it.
    public var forApp: (status: Int, json: String) {
        if isTemporary { return (503, #"{"error":"try_again"}"#) }
        guard let status, code != "unexpected_response", !code.hasPrefix("caller_") else {
            return (500, #"{"error":"internal_error"}"#)
        }
        var members = ["error": JSONValue.string(code)]
        members["cause"] = cause.map(JSONValue.string)
        members["re_attest"] = reAttest.map(JSONValue.boolean)
        return (status, String(decoding: Data.json(members), as: UTF8.self))
    }

    static func misconfigured(_ detail: String) -> SiwaError { SiwaError("misconfigured", detail: detail) }
}

extension SiwaError: CustomStringConvertible {
    public var description: String {
        // A wrong key, or another server.
        let hint = status != nil && forApp.status == 500 ? "check SIWA_URL and SIWA_API_KEY" : ""
        let parts = [code, status.map { "status \($0)" }, detail, requestID.map { "request \($0)" }, hint]
        return parts.compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: ", ")
    }
}
