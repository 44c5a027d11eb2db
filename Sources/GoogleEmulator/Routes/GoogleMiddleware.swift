import ForeignPages
import HTTPTypes
import Hummingbird
import NIOCore

/// Refuses requests that pages of other sites send from a developer's browser.
struct ForeignPageMiddleware: RouterMiddleware {
    let check: ForeignPageCheck

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        let host = request.head.authority.map { [$0] } ?? []
        do throws(ForeignPageRefusal) {
            try check.check(host: host)
            if request.method != .get, request.method != .head {
                try check.check(origin: request.headers[values: .origin], host: host)
            }
        } catch {
            switch error {
            case .host:
                throw GoogleEmulatorError(
                    .hostRefused,
                    detail: "Host is not localhost, 127.0.0.1, [::1] or an allowed host; use one of these")
            case .origin:
                throw GoogleEmulatorError(
                    .originRefused, detail: "Origin is another site; use the emulator's own pages")
            }
        }
        return try await next(request, context)
    }
}

/// Keeps the control API for tools: browsers send `Origin` with requests of pages, tools do not.
struct ToolMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.origin] == nil else {
            throw GoogleEmulatorError(.browserRefused, detail: "the control API is not for web pages")
        }
        return try await next(request, context)
    }
}

/// Converts errors to a problem (RFC 9457), or to a page for a browser.
struct ProblemMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        let refusal: GoogleEmulatorError
        do {
            return try await next(request, context)
        } catch let error as GoogleEmulatorError {
            refusal = error
        } catch is NIOTooManyBytesError {
            refusal = GoogleEmulatorError(.bodyTooLarge, detail: "at most \(ControlBody.limit) bytes")
        } catch let error as HTTPError where error.status == .notFound {
            refusal = GoogleEmulatorError(.pathNotFound, detail: "there is no such path with this method")
        }
        if request.headers[.accept]?.contains("text/html") == true {
            return ErrorPage(error: refusal).response
        }
        return GoogleResponse.problem(refusal)
    }
}
