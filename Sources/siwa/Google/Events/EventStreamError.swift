import Encodings

/// A call of Google's event stream that has failed, or could not be made.
///
/// The text says what failed and what the operator can do. It never has a part of a key or a token.
struct EventStreamError: CodedError {
    enum Code: String, Sendable, CaseIterable {
        /// The file with the service account's key cannot be read.
        case keyUnreadable
        /// The file is not a key file of a service account.
        case keyMalformed
        /// A key of Google itself would be used at another server.
        case keyMisdirected
        case urlRefused
        /// No response, or not in time.
        case unreachable
        /// The response is too long, or is not what Google's documentation describes.
        case responseMalformed
        /// 400
        case requestRefused
        /// 401
        case notAuthenticated
        /// 403, and Google says that the API is not enabled.
        case apiDisabled
        /// 403
        case forbidden
        /// 404
        case streamMissing
        /// 429
        case throttled
        /// 5xx, and every other status
        case failed
        /// The test event has not arrived in time.
        case verificationMissing
    }

    let code: Code
    let description: String

    init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}
