public import Encodings
package import HTTPTypes
package import Hummingbird
import NIOCore

/// Reason why an emulator refuses a request or cannot start. Match on `code`; its name is the stable `code`
/// of the problem document.
///
/// `detail` contains member names and limits of the control API, but never a claim or a token, so it may be
/// displayed.
public struct EmulatorError: CodedError {
    /// An error code with its HTTP status. Each emulator declares its own codes in an extension.
    public struct Code: Sendable, Hashable {
        public let name: String
        /// Status of the problem document (RFC 9457).
        package let status: HTTPResponse.Status

        package init(_ name: String, _ status: HTTPResponse.Status) {
            (self.name, self.status) = (name, status)
        }
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }

    public var description: String {
        detail.isEmpty ? "emulator: \(code.name)" : "emulator: \(code.name) (\(detail))"
    }
}

/// Error codes that several emulators share.
extension EmulatorError.Code {
    /// The emulator's configuration is invalid.
    public static let configurationInvalid = Self("configuration_invalid", .internalServerError)
    /// The state file is incomplete, or was not written by this emulator.
    public static let stateFileDamaged = Self("state_file_damaged", .internalServerError)
    /// The state file cannot be written, or another process has locked it.
    public static let stateFileUnwritable = Self("state_file_unwritable", .internalServerError)
    public static let pathNotFound = Self("path_not_found", .notFound)
    /// `Host` names another server: a page on another site may have made its own name resolve to this machine
    /// (RFC 9110 §15.5.20: this server is not responsible for the requested host).
    public static let hostRefused = Self("host_refused", .misdirectedRequest)
    /// A page on another site sent the request.
    public static let originRefused = Self("origin_refused", .forbidden)
    /// A browser sent the request, but the control API is for tools; web pages must not use it.
    public static let browserRefused = Self("browser_refused", .forbidden)
    public static let bodyTooLarge = Self("body_too_large", .contentTooLarge)
    /// The body is neither one strict JSON object nor a form.
    public static let bodyMalformed = Self("body_malformed", .badRequest)
    /// A string in the body contains U+0000.
    public static let characterNotAllowed = Self("character_not_allowed", .badRequest)
    public static let memberUnknown = Self("member_unknown", .badRequest)
    public static let memberMalformed = Self("member_malformed", .badRequest)
    /// A query or path parameter has an unknown name or an invalid value.
    public static let parameterMalformed = Self("parameter_malformed", .badRequest)
    /// The form is from a page of an earlier run.
    public static let pageOutdated = Self("page_outdated", .badRequest)

    /// Error codes that every control API uses to refuse requests.
    static let ofControlAPIs = [
        pathNotFound, hostRefused, originRefused, browserRefused, bodyTooLarge, bodyMalformed,
        characterNotAllowed, memberUnknown, memberMalformed, parameterMalformed,
    ]
}

/// Converts route errors to a problem document (RFC 9457), or to a page if a browser sent the request.
package struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    private let page: (@Sendable (EmulatorError) -> Response)?

    /// - Parameter page: Returns the page for a browser; `nil` if browsers receive problem documents too.
    package init(page: (@Sendable (EmulatorError) -> Response)?) { self.page = page }

    package func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let refusal = try Self.refusal(error)
            let isForBrowser = request.headers[.accept]?.contains("text/html") == true
            let response = page.flatMap { isForBrowser ? $0(refusal) : nil } ?? .problem(refusal)
            // Clients would treat a body after this response head as the next response (RFC 9110 §9.3.2).
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    /// Returns the refusal. Rethrows errors that are not refusals.
    private static func refusal(_ error: any Error) throws -> EmulatorError {
        switch error {
        case let error as EmulatorError: return error
        case is NIOTooManyBytesError:
            return EmulatorError(.bodyTooLarge, detail: "at most \(ControlInput.bodyLimit) bytes")
        case let error as HTTPError where error.status == .notFound:
            return EmulatorError(.pathNotFound, detail: "there is no such path with this method")
        default: throw error
        }
    }
}
