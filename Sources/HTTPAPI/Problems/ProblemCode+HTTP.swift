import NIOHTTP1

extension Problem {
    /// The problem for one of this interface's own codes.
    ///
    /// - Parameter retryAfter: In place of the seconds that the code means.
    init(_ code: ProblemCode, subject: Subject? = nil, retryAfter: Int? = nil, allow: String? = nil) {
        let meaning = code.meaning
        self.init(
            meaning.status, code: code.rawValue, title: meaning.title, detail: meaning.detail,
            subject: subject, retryAfter: retryAfter ?? meaning.retryAfter, allow: allow)
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
                detail: "The received bytes are not a valid HTTP/1.1 request.")
        case .requestTimeout:
            Meaning(
                status: .requestTimeout, title: "Request incomplete",
                detail: "The request did not arrive completely within its time limit.")
        case .headerTooLarge:
            Meaning(
                status: .requestHeaderFieldsTooLarge, title: "Request header too large",
                detail: "The request line and header fields exceed 16 KiB.")
        case .bodyTooLarge:
            Meaning(
                status: .payloadTooLarge, title: "Request body too large",
                detail: "The request body exceeds 64 KiB, or the bound of its form.")
        case .bodyNotJSON:
            Meaning(
                status: .badRequest, title: "Body is not JSON",
                detail: "The body must be one JSON object (RFC 8259) in UTF-8, without duplicate members.")
        case .characterNotAllowed:
            Meaning(
                status: .badRequest, title: "Character not allowed",
                detail: "A string of the body, the path, the query or the form contains U+0000. Remove it.")
        case .contentTypeUnsupported:
            Meaning(
                status: .unsupportedMediaType, title: "Unsupported content type",
                detail:
                    "Send the body as application/json. Only Apple's callback accepts a form.")
        case .memberMissing:
            Meaning(
                status: .badRequest, title: "Member missing",
                detail: "The body lacks a member that this request requires.")
        case .memberMalformed:
            Meaning(
                status: .badRequest, title: "Member malformed",
                detail: "A member of the body has the wrong type or is outside its bounds.")
        case .memberUnknown:
            Meaning(
                status: .badRequest, title: "Unknown member",
                detail:
                    "The body has a member that this request does not define. Check its spelling.")
        case .parameterMissing:
            Meaning(
                status: .badRequest, title: "Parameter missing",
                detail: "The query lacks a parameter that this request requires.")
        case .parameterMalformed:
            Meaning(
                status: .badRequest, title: "Parameter malformed",
                detail: "A path or query parameter is not well formed or is outside its bounds.")
        case .parameterUnknown:
            Meaning(
                status: .badRequest, title: "Unknown parameter",
                detail:
                    "The query has a parameter that this request does not define, or one that comes twice.")
        case .hostRefused:
            // RFC 9110 §15.5.20: this service is not authoritative for the requested host.
            Meaning(
                status: .misdirectedRequest, title: "Host refused",
                detail:
                    "In development the Host field must be localhost, 127.0.0.1, [::1], SIWA_HOST, the host of SIWA_PUBLIC_URL or one of SIWA_ALLOWED_HOSTS. Add the name to SIWA_ALLOWED_HOSTS if it is correct."
            )
        case .originRefused:
            Meaning(
                status: .forbidden, title: "Origin refused",
                detail:
                    "A page of another site sent this request. In development such a page must not change anything."
            )
        case .notFound:
            Meaning(status: .notFound, title: "Not found", detail: "There is no such resource.")
        case .methodNotAllowed:
            Meaning(
                status: .methodNotAllowed, title: "Method not allowed",
                detail:
                    "The resource does not support this method. The Allow header lists the methods that it supports."
            )
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
                    "The cursor must be one of this feed, and it is past its end: the database was restored from a backup, "
                    + "or is another one. Query the state of each credential, and continue with after=latest."
            )
        case .grantNotFound:
            Meaning(
                status: .notFound, title: "Grant not found",
                detail: "The account has no grant with this ID that this API key may see.")
        case .redirectURIMismatch:
            Meaning(
                status: .badRequest, title: "Redirect URI mismatch",
                detail:
                    "The redirect URI must be one of those that Google uses for App Flip. Pass on the one of the universal link."
            )
        case .formMalformed:
            Meaning(
                status: .badRequest, title: "Malformed form",
                detail: "The body is not a form as Apple sends it.")
        case .keysUnavailable:
            Meaning(
                status: .serviceUnavailable, title: "Apple's keys unavailable",
                detail: "Apple's public keys are unavailable, so no token can be verified. Retry later.",
                retryAfter: 5)
        case .storageUnavailable:
            Meaning(
                status: .serviceUnavailable, title: "Storage unavailable",
                detail: "The database is unavailable. Retry later.", retryAfter: 2)
        case .overloaded:
            Meaning(
                status: .serviceUnavailable, title: "Overloaded",
                detail: "Too many requests are waiting. Retry later.", retryAfter: 1)
        case .stopping:
            Meaning(
                status: .serviceUnavailable, title: "Stopping",
                detail: "This process is about to stop. It still serves requests; send new ones to another.",
                retryAfter: 5)
        case .internalError:
            Meaning(
                status: .internalServerError, title: "Internal error",
                detail: "The service failed. Look for the request ID in its log.")
        }
    }
}
