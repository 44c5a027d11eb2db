/// A person to be made. What is left out gets a value that a first look at the service can use.
public struct UserRecipe: Sendable {
    /// The `sub` for the first team; Apple's form when absent.
    public var subject: String?
    public var email = RecipeAddress.derived
    public var isEmailVerified = true
    public var hidesEmail = false
    public var firstName: String? = "Jane"
    public var lastName: String? = "Appleseed"
    public var realUserStatus: Int64? = 2

    public init() {}
}
