import AppAttestation
import NIOHTTP1
import StrictJSON

/// An error as the caller sees it (RFC 9457): a status, a stable code and fixed texts.
///
/// The only repeated part of the request is the name of an unknown member or parameter, so that a problem
/// contains no token, claim value or secret.
struct Problem: Error, Sendable, Equatable {
    let status: HTTPResponseStatus
    let code: String
    let title: String
    let detail: String
    /// The member or parameter of the request with the fault: a name of this interface, or the unknown name.
    let subject: Subject?
    /// Seconds after which a retry makes sense (RFC 9110 §10.2.3).
    let retryAfter: Int?
    /// The methods of the resource (RFC 9110 §10.2.1).
    let allow: String?
    /// The cause of a refusal by App Check, for programs.
    let appCheckCause: AppCheckCause?
    /// The code of the component that makes the service unavailable, for operators.
    var cause: String?

    enum Subject: Sendable, Equatable {
        case member(String)
        case parameter(String)
    }

    init(
        _ status: HTTPResponseStatus, code: String, title: String, detail: String, subject: Subject? = nil,
        retryAfter: Int? = nil, allow: String? = nil, appCheckCause: AppCheckCause? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.subject = subject
        self.retryAfter = retryAfter
        self.allow = allow
        self.appCheckCause = appCheckCause
    }

    /// Returns the document of RFC 9457 §3. `type` is a name and not an address: there is nothing to fetch.
    func body(requestID: String) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 384)
        json.beginObject()
        json.member("type", "urn:siwa:problem:\(code)")
        json.member("title", title)
        json.member("status", Int(status.code))
        json.member("code", code)
        json.member("detail", detail)
        switch subject {
        case .member(let name): json.member("member", name)
        case .parameter(let name): json.member("parameter", name)
        case nil: break
        }
        if let appCheckCause {
            json.member("cause", appCheckCause.code)
            json.member("re_attest", appCheckCause.canReAttest)
        }
        json.member("cause", ifPresent: cause)
        json.member("request_id", requestID)
        json.endObject()
        return json.bytes
    }
}
