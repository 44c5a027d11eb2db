import SignIn
import StrictJSON

extension UserProfile {
    /// The `user` field of Apple's form. It comes once and nobody signs it: what cannot be read is as if it had not come,
    /// because the sign-in itself is good without.
    init?(unsigned text: String) {
        guard let object = try? JSONValue(parsing: Array(text.utf8)).object,
            let profile = try? UserProfile(object)
        else { return nil }
        self = profile
    }
}
