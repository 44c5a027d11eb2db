public import EmulatorServer
import HTTPTypes

/// Error codes of the fake Apple.
extension EmulatorError.Code {
    /// The member would have no effect, for example because it removes a claim that is absent.
    public static let memberIneffective = Self("member_ineffective", .badRequest)
    /// No app has this client ID.
    public static let clientIDUnknown = Self("client_id_unknown", .notFound)
    public static let userNotFound = Self("user_not_found", .notFound)
    public static let userExists = Self("user_exists", .conflict)
    public static let tooManyUsers = Self("too_many_users", .conflict)
    /// The key is not a P-256 key, or its ID is not in Apple's format.
    public static let clientKeyRefused = Self("client_key_refused", .unprocessableContent)
    /// The URI is neither an https URL with a domain name nor a URL on this machine.
    public static let redirectURIRefused = Self("redirect_uri_refused", .unprocessableContent)
    public static let tooManyRedirectURIs = Self("too_many_redirect_uris", .conflict)
    public static let tooManyTransfers = Self("too_many_transfers", .conflict)
    public static let keyNotFound = Self("key_not_found", .notFound)
    public static let keyExists = Self("key_exists", .conflict)
    public static let tooManyKeys = Self("too_many_keys", .conflict)
    /// No fake device has this App Attest key.
    public static let deviceKeyNotFound = Self("device_key_not_found", .notFound)
    public static let tooManyDeviceKeys = Self("too_many_device_keys", .conflict)
    /// OpenSSL failed to create an App Attest key or signature.
    public static let attestationUnsignable = Self("attestation_unsignable", .internalServerError)
    /// All keys are retired, so no valid token can be signed.
    public static let noSigningKey = Self("no_signing_key", .conflict)
    /// A delivery was requested, but no URL is known.
    public static let notificationURLMissing = Self("notification_url_missing", .conflict)
    /// The URL is not an http or https URL, or names a host that the emulator may not call.
    public static let notificationURLRefused = Self("notification_url_refused", .unprocessableContent)
    /// The header has `typ`, so libjwt must write the token, but it cannot write these claims.
    public static let tokenUnsignable = Self("token_unsignable", .unprocessableContent)

    /// OpenSSL failed to generate a signing key.
    public static let keyGenerationFailed = Self("key_generation_failed", .internalServerError)

    static let ofFakeApple = [
        memberIneffective, clientIDUnknown, userNotFound, userExists, tooManyUsers, clientKeyRefused,
        redirectURIRefused, tooManyRedirectURIs, tooManyTransfers, keyNotFound, keyExists, tooManyKeys,
        deviceKeyNotFound, tooManyDeviceKeys, attestationUnsignable, noSigningKey, notificationURLMissing,
        notificationURLRefused, tokenUnsignable, keyGenerationFailed,
    ]
}
