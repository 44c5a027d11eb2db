/// The e-mail address of a new user.
public enum RecipeAddress: Sendable, Equatable {
    /// A unique address from the name or the user's number.
    case derived
    case none
    /// This address.
    case given(String)
}
