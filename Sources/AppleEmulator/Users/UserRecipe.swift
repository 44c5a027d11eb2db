/// The properties of a new user. The defaults are useful for a first trial.
public struct UserRecipe: Sendable {
    /// The `sub` for the first team. Default: a random one in Apple's format.
    public var subject: String?
    public var email = RecipeAddress.derived
    public var isEmailVerified = true
    public var hidesEmail = false
    public var firstName: String? = "Jane"
    public var lastName: String? = "Appleseed"
    public var realUserStatus: Int64? = 2

    public init() {}
}
