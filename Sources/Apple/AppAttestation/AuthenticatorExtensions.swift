/// The facts about an app that iOS 27 and macOS 27 add to the authenticator data. They are absent on older
/// systems.
///
/// Apple advises to watch them and to weigh them. They do not decide here, so a fact in an unexpected form is
/// `nil`, and unknown facts are ignored.
public struct AuthenticatorExtensions: Sendable, Equatable {
    /// `apple_validation_category_01`. Values that `ValidationCategory` does not have are possible.
    public let validationCategory: UInt32?
    /// `apple_bundle_version_01`: the app's `CFBundleVersion`. Untrusted text of any length.
    public let bundleVersion: String?

    static let none = AuthenticatorExtensions(validationCategory: nil, bundleVersion: nil)

    private init(validationCategory: UInt32?, bundleVersion: String?) {
        (self.validationCategory, self.bundleVersion) = (validationCategory, bundleVersion)
    }

    /// Reads the bytes after the fixed members: nothing, or exactly one map.
    ///
    /// The ED flag is not asked: some systems do not set it although the map is there.
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

    /// Documented as an integer, and sent as 4 bytes, the lowest first.
    private static func category(_ value: CBORValue) -> UInt32? {
        if let integer = value.integer { return UInt32(exactly: integer) }
        guard let bytes = value.bytes, bytes.count == 4 else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
