/// Authenticator data from an attestation or assertion (WebAuthn §6.1), parsed but not verified.
///
/// The flags are ignored, because Apple also sets the credential flag without a credential, and does not
/// always set the flag for extensions. The object's kind and size decide instead.
struct AuthenticatorData: Sendable {
    /// The app ID's hash, 32 bytes.
    let appIDHash: ArraySlice<UInt8>
    /// The unsigned counter. Code that reads it as a signed number fails above 2³¹.
    let counter: UInt32
    /// The credential, which only attestations have.
    let credential: AttestedCredential?
    /// The remaining bytes, which must be empty or exactly one map of extensions.
    let rest: ArraySlice<UInt8>

    private static let fixedSize = 37

    init(
        parsing bytes: ArraySlice<UInt8>, of kind: AppAttestationKind
    ) throws(AppAttestationError) {
        guard bytes.count >= Self.fixedSize else {
            throw AppAttestationError(
                .authenticatorDataMalformed, found: "\(bytes.count) bytes",
                expected: "at least \(Self.fixedSize) bytes")
        }
        appIDHash = bytes.prefix(32)
        counter = bytes.dropFirst(33).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        var rest = bytes.dropFirst(Self.fixedSize)
        switch kind {
        case .attestation: credential = try AttestedCredential(readingFrom: &rest)
        case .assertion: credential = nil
        }
        self.rest = rest
    }
}

/// An attestation's attested credential data (WebAuthn
/// §6.5.1), with the key in the only form that Apple uses.
struct AttestedCredential: Sendable {
    /// The AAGUID, 16 bytes.
    let aaguid: ArraySlice<UInt8>
    let credentialID: ArraySlice<UInt8>
    /// The x and y coordinates of the key's point, 32 bytes each.
    let x: ArraySlice<UInt8>
    let y: ArraySlice<UInt8>

    /// Reads the credential, and advances `bytes` past it.
    init(readingFrom bytes: inout ArraySlice<UInt8>) throws(AppAttestationError) {
        guard bytes.count >= 18 else { throw Self.malformed("\(bytes.count) bytes of a credential") }
        aaguid = bytes.prefix(16)
        let size = bytes.dropFirst(16).prefix(2).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(18)
        guard size == 32, bytes.count >= size else {
            throw Self.malformed("a credential ID of \(size) bytes")
        }
        credentialID = bytes.prefix(size)
        bytes = bytes.dropFirst(size)
        let key: CBORValue
        do throws(CBORError) {
            var reader = try CBORReader(bytes)
            key = try reader.readValue()
            bytes = reader.rest
        } catch {
            throw Self.malformed(error.debugDescription)
        }
        // A COSE key (RFC 9053 §7.1): key type EC2, algorithm ES256, curve P-256, coordinates.
        guard let map = key.map, map.entries.count == 5, map[1]?.integer == 2, map[3]?.integer == -7,
            map[-1]?.integer == 1, let x = map[-2]?.bytes, let y = map[-3]?.bytes, x.count == 32,
            y.count == 32
        else { throw Self.malformed("another key") }
        (self.x, self.y) = (x, y)
    }

    private static func malformed(_ found: String) -> AppAttestationError {
        AppAttestationError(
            .authenticatorDataMalformed, found: found,
            expected: "an AAGUID, a credential ID of 32 bytes and an ES256 key in COSE")
    }
}

/// App properties that iOS 27 and macOS 27 add to the authenticator data. Older systems do not send them.
///
/// Apple advises servers to monitor and weigh these properties. Verification does not depend on them, so a
/// property in an unexpected form becomes `nil`, and unknown properties are ignored.
public struct AuthenticatorExtensions: Sendable, Equatable {
    /// `apple_validation_category_01`. `ValidationCategory` does not list every value.
    public let validationCategory: UInt32?
    /// `apple_bundle_version_01`: the app's `CFBundleVersion`. Untrusted text of any length.
    public let bundleVersion: String?

    static let none = AuthenticatorExtensions(validationCategory: nil, bundleVersion: nil)

    private init(validationCategory: UInt32?, bundleVersion: String?) {
        (self.validationCategory, self.bundleVersion) = (validationCategory, bundleVersion)
    }

    /// Parses the bytes after the fixed members: none, or exactly one map.
    ///
    /// The ED flag is ignored, because some systems do not set it although the map is present.
    init(parsing bytes: ArraySlice<UInt8>) throws(AppAttestationError) {
        guard !bytes.isEmpty else {
            self = .none
            return
        }
        let value: CBORValue
        do throws(CBORError) {
            value = try CBORValue(parsing: bytes)
        } catch {
            throw AppAttestationError(
                .extensionsMalformed, found: error.debugDescription, expected: "one map in strict CBOR")
        }
        guard let map = value.map, map.entries.allSatisfy({ $0.key.text != nil }) else {
            throw AppAttestationError(
                .extensionsMalformed, found: "another item of CBOR", expected: "one map with text keys")
        }
        self.init(
            validationCategory: map["apple_validation_category_01"].flatMap(Self.category),
            bundleVersion: map["apple_bundle_version_01"]?.text)
    }

    /// Reads the category. Apple documents an integer, but sends 4 bytes in little-endian order.
    private static func category(_ value: CBORValue) -> UInt32? {
        if let integer = value.integer { return UInt32(exactly: integer) }
        guard let bytes = value.bytes, bytes.count == 4 else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// The origin of an app's code, as iOS 27 and macOS 27 report it in `apple_validation_category_01`.
public enum ValidationCategory: UInt32, Sendable, CaseIterable {
    case invalid = 0
    case operatingSystem = 1
    case testFlight = 2
    case development = 3
    case appStore = 4
    /// Enterprise or ad hoc distribution.
    case enterprise = 5
    case developerID = 6
    case local = 7
    case rosetta = 8
    case justInTime = 9
    case none = 10
}
