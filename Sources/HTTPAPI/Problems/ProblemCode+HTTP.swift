import NIOHTTP1

extension Problem {
    /// The problem for one of this interface's own codes.
    init(_ code: ProblemCode, subject: Subject? = nil, allow: String? = nil) {
        let meaning = code.meaning
        self.init(
            meaning.status, code: code.rawValue, title: meaning.title, detail: meaning.detail,
            subject: subject,
            retryAfter: meaning.retryAfter, allow: allow)
    }
}

extension ProblemCode {
    struct Meaning {
        let status: HTTPResponseStatus
        let title: String
        let detail: String
        var retryAfter: Int?
    }

    var meaning: Meaning {
        switch self {
        case .requestMalformed:
            Meaning(
                status: .badRequest, title: "Malformed request",
                detail: "The bytes received are not an HTTP/1.1 request that this service reads.")
        case .requestTimeout:
            Meaning(
                status: .requestTimeout, title: "Request incomplete",
                detail: "The request did not arrive completely in time.")
        case .headerTooLarge:
            Meaning(
                status: .requestHeaderFieldsTooLarge, title: "Request header too large",
                detail: "The request line and header fields exceed 16 KiB.")
        case .bodyTooLarge:
            Meaning(
                status: .payloadTooLarge, title: "Request body too large",
                detail: "The request body exceeds 64 KiB.")
        case .bodyNotJSON:
            Meaning(
                status: .badRequest, title: "Body is not JSON",
                detail: "The body must be one JSON object (RFC 8259) in UTF-8, without duplicate members.")
        case .characterNotAllowed:
            Meaning(
                status: .badRequest, title: "Character not allowed",
                detail: "A string of the body, the path, the query or the form has U+0000. Remove it.")
        case .contentTypeUnsupported:
            Meaning(
                status: .unsupportedMediaType, title: "Unsupported content type",
                detail:
                    "Send the body as application/json; only Apple's callback takes a form.")
        case .memberMissing:
            Meaning(
                status: .badRequest, title: "Member missing",
                detail: "The body lacks a member that this call needs.")
        case .memberMalformed:
            Meaning(
                status: .badRequest, title: "Member malformed",
                detail: "A member of the body has the wrong type or is outside its bounds.")
        case .memberUnknown:
            Meaning(
                status: .badRequest, title: "Unknown member",
                detail:
                    "The body has a member that this call does not know; a misspelled name is not ignored.")
        case .parameterMissing:
            Meaning(
                status: .badRequest, title: "Parameter missing",
                detail: "The query lacks a parameter that this call needs.")
        case .parameterMalformed:
            Meaning(
                status: .badRequest, title: "Parameter malformed",
                detail: "A path or query parameter is not well formed or is outside its bounds.")
        case .parameterUnknown:
            Meaning(
                status: .badRequest, title: "Unknown parameter",
                detail: "The query has a parameter that this call does not know, or has one twice.")
        case .hostRefused:
            // RFC 9110 §15.5.20: this service is not authoritative for the requested host.
            Meaning(
                status: .misdirectedRequest, title: "Host refused",
                detail:
                    "In development only localhost, 127.0.0.1, [::1], SIWA_HOST, the host of SIWA_PUBLIC_URL and SIWA_ALLOWED_HOSTS are answered; the Host field names another. Add the name to SIWA_ALLOWED_HOSTS if it is meant."
            )
        case .originRefused:
            Meaning(
                status: .forbidden, title: "Origin refused",
                detail: "A page of another site sent this request; in development none may change anything.")
        case .notFound:
            Meaning(status: .notFound, title: "Not found", detail: "There is no such resource.")
        case .methodNotAllowed:
            Meaning(
                status: .methodNotAllowed, title: "Method not allowed",
                detail: "The resource does not have this method; the Allow header names those it has.")
        case .callerUnauthenticated:
            Meaning(
                status: .unauthorized, title: "Caller not authenticated",
                detail: "Send a configured API key as Authorization: Bearer.")
        case .callerForbidden:
            Meaning(
                status: .forbidden, title: "Caller not allowed",
                detail: "This API key is limited to other apps.")
        case .clientIDUnknown:
            Meaning(
                status: .notFound, title: "Unknown client ID",
                detail: "No app with this client ID is configured.")
        case .erasureNotFound:
            Meaning(
                status: .notFound, title: "Erasure not found",
                detail: "There is no erasure with this ID that this API key may see.")
        case .cursorAhead:
            Meaning(
                status: .conflict, title: "Cursor ahead of the feed",
                detail:
                    "The cursor must be one of this feed, and it is past its end: the database was set back to a backup, "
                    + "or is another one. Ask the state of each credential, and read on from after=latest.")
        case .formMalformed:
            Meaning(
                status: .badRequest, title: "Malformed form",
                detail: "What came back is not a form as Apple sends it.")
        case .keysUnavailable:
            Meaning(
                status: .serviceUnavailable, title: "Apple's keys unavailable",
                detail: "Apple's public keys cannot be had at the moment, so nothing can be verified.",
                retryAfter: 5)
        case .storageUnavailable:
            Meaning(
                status: .serviceUnavailable, title: "Storage unavailable",
                detail: "The database cannot be used at the moment.", retryAfter: 2)
        case .overloaded:
            Meaning(
                status: .serviceUnavailable, title: "Overloaded",
                detail: "More work is waiting than this service accepts.", retryAfter: 1)
        case .internalError:
            Meaning(
                status: .internalServerError, title: "Internal error",
                detail: "The service failed; its log has the request ID.")
        }
    }
}
