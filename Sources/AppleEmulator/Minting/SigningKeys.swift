/// The keys that one token can be signed with.
struct SigningKeys {
    let key: SigningKey
    /// Another published key; `nil` when there is none.
    let other: SigningKey?
    /// Whether `key` is the one that a forgery named.
    var isNamed = false
}
