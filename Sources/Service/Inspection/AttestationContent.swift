import AppAttestation
import AppleAccounts
import Cryptography
import Encodings
import StrictJSON

/// The unverified content of an object of App Attest, to be shown only.
struct AttestationContent {
    let object: JSONObject

    /// - Parameter appID: The expected app. The object has only the hash of an app.
    init(_ content: UnverifiedContent, of appID: AppID) {
        var members: [(String, JSONValue)] = [
            ("app_id_hash", .string(Hexadecimal.encode(content.appIDHash)))
        ]
        if content.appIDHash == appID.digest.bytes { members.append(("app_id", .string(appID.text))) }
        members.append(("counter", .integer(Int64(content.counter))))
        if let credentialID = content.credentialID {
            members.append(("credential_id", .string(credentialID)))
            members.append(("environment", content.environment.map { .string($0.rawValue) } ?? .null))
        }
        if let validity = content.validity {
            members.append(("certificate_not_before", .string(Moment(seconds: validity.begin).rfc3339)))
            members.append(("certificate_not_after", .string(Moment(seconds: validity.end).rfc3339)))
        }
        if let size = content.receiptSize { members.append(("receipt_bytes", .integer(Int64(size)))) }
        if let category = content.extensions?.validationCategory {
            members.append(("validation_category", .integer(Int64(category))))
        }
        if let version = content.extensions?.bundleVersion {
            members.append(("bundle_version", .string(version)))
        }
        object = JSONObject(members)
    }

    /// The text of each member, without control characters. A known category has its name.
    var texts: [String] {
        object.members.map { name, value in
            let text = value.string ?? String(decoding: value.serialized(), as: UTF8.self)
            let category = value.integer.flatMap { UInt32(exactly: $0) }.flatMap {
                ValidationCategory(rawValue: $0)
            }
            guard name == "validation_category", let category else { return TokenContent.shown(text) }
            return "\(text) (\(category))"
        }
    }
}
