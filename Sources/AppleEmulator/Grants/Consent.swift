/// One person's consent to one app: what every code and every token hangs on, and ends with.
struct Consent: Hashable, Codable {
    /// The person's number in the directory.
    let person: Int
    /// The app's primary client ID.
    let app: String
}
