public import AppAttestation

extension AppCheckTarget.Kind: StorageCode {
    public static var numbered: [AppCheckTarget.Kind] { [.app, .oauthClient] }
}
