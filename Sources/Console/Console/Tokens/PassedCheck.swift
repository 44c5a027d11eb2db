import Inspection
import StrictJSON

/// The value that a check has found, and the value that it expected, where the check has passed. A report has them
/// for failed checks alone: what passed is in the content of the token.
struct PassedCheck {
    private let report: CheckReport

    init(_ report: CheckReport) { self.report = report }

    /// - Parameter check: Its name in the report.
    func values(of check: String) -> (found: String, expected: String) {
        let keyID = member("kid", of: "header")
        switch check {
        case "size": return ("within the bound", "at most 16,384 bytes")
        case "form": return ("the form of \(report.kind)", "the form of \(report.kind), with nothing cut off")
        case "algorithm": return (member("alg", of: "header"), "RS256")
        case "type": return (member("typ", of: "header"), "the type of \(report.kind)")
        case "header": return ("no such field", "none of crit, b64, jwk, jku, x5u, x5c")
        case "key ID": return (keyID, "a text of 1 to 64 characters")
        case "key": return (keyID, "a key of the signer's current set")
        case "signature": return ("a signature by key \(keyID)", "a signature by this key")
        case "payload": return ("strict JSON", "claims in strict JSON")
        case "kind": return (report.kind, report.kind)
        case "claims": return (names, "those that \(report.kind) must have")
        case "not before": return (member("nbf", of: "claims"), "none, or no later than now\(leeway)")
        case "issuer": return (member("iss", of: "claims"), "an issuer that this service trusts")
        case "audience":
            return (member("aud", of: "claims"), "a client ID or an audience that is configured here")
        case "subject": return (member("sub", of: "claims"), "a subject that this service takes")
        case "issued at": return (member("iat", of: "claims"), "no later than now\(leeway)")
        case "expiration": return (member("exp", of: "claims"), "later than now\(leeway)")
        case "lifetime": return (member("exp", of: "claims"), "within the longest lifetime after iat")
        case "nonce": return (member("nonce", of: "claims"), "the nonce that was given")
        case "code hash": return (member("c_hash", of: "claims"), "the hash of the code that was given")
        case "access token hash", "access_token_hash":
            return (member("at_hash", of: "claims"), "the hash of the access token that was given")
        case "events": return (member("events", of: "claims"), "1 to 16 events in one of Apple's forms")
        case "family": return ("a token family that is good", "the current token of a good family")
        case "code": return ("a code that waits", "a code that waits, within its time")
        // The checks of App Attest compare bytes, which say nothing to a reader.
        case _: return ("the bytes that were expected", "what the section of the specification asks for")
        }
    }

    /// Seconds that the clock of the issuer may differ from ours.
    private var leeway: String {
        report.leeway.map { $0 == 0 ? "; no leeway" : "; leeway \($0) seconds" } ?? ""
    }

    private func member(_ name: String, of section: String) -> String {
        guard let section = report.sections.first(where: { $0.name == section }) else { return "none" }
        return zip(section.object.members, section.texts).first { $0.0.name == name }?.1 ?? "none"
    }

    private var names: String {
        let claims = report.sections.first { $0.name == "claims" }?.object.members.map(\.name) ?? []
        return claims.map(TokenContent.shown).joined(separator: ", ")
    }
}
