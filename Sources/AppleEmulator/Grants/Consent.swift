/// The consent of one user to one app. Codes and tokens belong to a consent and end with it.
struct Consent: Hashable, Codable {
    /// The position of the user in the directory.
    let person: Int
    /// The app's primary client ID.
    let app: String
}
