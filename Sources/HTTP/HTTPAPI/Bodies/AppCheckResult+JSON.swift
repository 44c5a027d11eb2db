import AppAttestation
import SignIn
import StrictJSON

extension JSONWriter {
    /// Writes `app_check`, where the app of a request was judged.
    mutating func member(_ name: StaticString, ifPresent result: AppCheckResult?) {
        guard let result else { return }
        self.name(name)
        beginObject()
        member("kind", result.kind.rawValue)
        member("cause", ifPresent: result.cause?.code)
        member(result.extensions)
        endObject()
    }

    /// Writes the facts of iOS 27 that are present.
    mutating func member(_ extensions: AuthenticatorExtensions?) {
        member("validation_category", ifPresent: extensions?.validationCategory.map { Int64($0) })
        member("bundle_version", ifPresent: extensions?.bundleVersion)
    }
}
