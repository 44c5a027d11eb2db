// What the apps of docs/ios-app.md, docs/linking.md, docs/native-apps.md and docs/app-check.md use of Apple's
// frameworks, with the isolation that Apple's headers give it, so that the app's code can be type-checked on
// Linux. Nothing of this runs.
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Security. Dictionaries are not bridged on Linux.
typealias CFTypeRef = AnyObject
typealias CFDictionary = [String: Any]
let kSecClass = ""
let kSecClassGenericPassword = ""
let kSecAttrService = ""
let kSecAttrAccount = ""
let kSecAttrAccessible = ""
let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = ""
let kSecReturnData = ""
let kSecValueData = ""
let errSecSuccess: Int32 = 0
@discardableResult
func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 { 0 }
@discardableResult func SecItemDelete(_ query: CFDictionary) -> Int32 { 0 }
@discardableResult
func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 { 0 }

// UIKit
class NSUserActivity: NSObject {
    let activityType = ""
    let webpageURL: URL? = nil
}
let NSUserActivityTypeBrowsingWeb = ""
@MainActor class UIResponder: NSObject {}
@MainActor class UIWindow { init() {} }
@MainActor class UISceneSession {}
@MainActor class UIScene {
    @MainActor class ConnectionOptions { var userActivities: Set<NSUserActivity> = [] }
}
@MainActor protocol UIWindowSceneDelegate: NSObjectProtocol {
    var window: UIWindow? { get set }
    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions)
    func scene(_ scene: UIScene, continue userActivity: NSUserActivity)
}
protocol UIUserActivityRestoring: NSObjectProtocol {}
@MainActor protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool
}
@MainActor class UIViewController: UIResponder {
    var isModalInPresentation = false
    func present(_ controller: UIViewController, animated: Bool) {}
    func dismiss(animated: Bool) {}
}
final class UIHostingController<Content: View>: UIViewController {
    init(rootView: Content) {}
}
@MainActor class UIWindowScene: UIScene { var keyWindow: UIWindow? }
@MainActor class UIApplication {
    static let shared = UIApplication()
    static let willEnterForegroundNotification = Notification.Name("")
    var connectedScenes: [UIScene] = []
    struct OpenExternalURLOptionsKey: Hashable {
        static let universalLinksOnly = OpenExternalURLOptionsKey()
    }
    func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool { true }
}
@MainActor class UIAction { init(handler: @escaping @MainActor (UIAction) -> Void) {} }
@MainActor class UIControl {
    struct Event { static let touchUpInside = Event() }
    func addAction(_ action: UIAction, for events: Event) {}
}

// AuthenticationServices
typealias ASPresentationAnchor = UIWindow
class ASAuthorizationRequest: NSObject {}
class ASAuthorizationOpenIDRequest: ASAuthorizationRequest {
    var nonce: String?
    var requestedScopes: [ASAuthorization.Scope]?
}
class ASAuthorizationAppleIDRequest: ASAuthorizationOpenIDRequest { var user: String? }
class ASAuthorizationPasswordRequest: ASAuthorizationRequest {}
class ASAuthorizationPasswordProvider: NSObject {
    func createRequest() -> ASAuthorizationPasswordRequest { ASAuthorizationPasswordRequest() }
}
class ASAuthorizationAppleIDProvider: NSObject {
    enum CredentialState: Int { case revoked, authorized, notFound, transferred }
    static let credentialRevokedNotification = Notification.Name("")
    func createRequest() -> ASAuthorizationAppleIDRequest { ASAuthorizationAppleIDRequest() }
    func credentialState(forUserID userID: String) async throws -> CredentialState { .notFound }
}
protocol ASAuthorizationCredential: NSObjectProtocol {}
class ASAuthorization: NSObject {
    struct Scope {
        static let fullName = Scope()
        static let email = Scope()
    }
    let credential: any ASAuthorizationCredential
    init(credential: any ASAuthorizationCredential) { self.credential = credential }
}
class ASAuthorizationAppleIDCredential: NSObject, ASAuthorizationCredential {
    let user = ""
    let identityToken: Data? = nil
    let authorizationCode: Data? = nil
    let fullName: PersonNameComponents? = nil
    let email: String? = nil
}
class ASPasswordCredential: NSObject, ASAuthorizationCredential {
    let user = ""
    let password = ""
}
struct ASAuthorizationError: Error {
    enum Code: Int { case unknown, canceled, invalidResponse, notHandled, failed, notInteractive }
    let code: Code
}
@MainActor protocol ASAuthorizationControllerDelegate: NSObjectProtocol {
    func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization)
    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error)
}
@MainActor protocol ASAuthorizationControllerPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor
}
@MainActor class ASAuthorizationController: NSObject {
    struct RequestOptions { static let preferImmediatelyAvailableCredentials = RequestOptions() }
    weak var delegate: (any ASAuthorizationControllerDelegate)?
    weak var presentationContextProvider: (any ASAuthorizationControllerPresentationContextProviding)?
    init(authorizationRequests: [ASAuthorizationRequest]) {}
    func performRequests() {}
    func performRequests(options: RequestOptions) {}
}
class ASAuthorizationAppleIDButton: UIControl {
    enum ButtonType { case signIn }
    enum Style { case black }
    init(type: ButtonType, style: Style) {}
}

@MainActor protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}
@MainActor class ASWebAuthenticationSession: NSObject {
    struct Callback { static func customScheme(_ scheme: String) -> Callback { Callback() } }
    weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    init(url: URL, callback: Callback, completionHandler: @escaping (URL?, (any Error)?) -> Void) {}
    @discardableResult func start() -> Bool { true }
}

// CryptoKit
struct SHA256 { static func hash(data: Data) -> [UInt8] { [] } }

// DeviceCheck. Not declared as sendable, so that the code needs no such declaration.
struct DCError: Error {
    enum Code { case unknownSystemFailure, featureUnsupported, invalidInput, invalidKey, serverUnavailable }
    let code: Code
}
class DCAppAttestService: NSObject {
    class var shared: DCAppAttestService { DCAppAttestService() }
    var isSupported: Bool { true }
    func generateKey() async throws -> String { "" }
    func attestKey(_ keyID: String, clientDataHash: Data) async throws -> Data { Data() }
    func generateAssertion(_ keyID: String, clientDataHash: Data) async throws -> Data { Data() }
}

// SwiftUI and Combine
protocol ObservableObject: AnyObject {}
@propertyWrapper struct Published<Value> { var wrappedValue: Value }
@MainActor @propertyWrapper struct StateObject<Object> {
    let wrappedValue: Object
    init(wrappedValue: @autoclosure () -> Object) { self.wrappedValue = wrappedValue() }
}
@MainActor @propertyWrapper struct ObservedObject<Object> {
    let wrappedValue: Object
    init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
}
@MainActor @propertyWrapper struct State<Value> {
    private let value: Value
    init(wrappedValue: Value) { value = wrappedValue }
    var wrappedValue: Value {
        get { value }
        nonmutating set {}
    }
}
struct Binding<Value> {
    init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {}
}
struct Publisher { func receive(on queue: DispatchQueue) -> Publisher { self } }
extension NotificationCenter {
    func publisher(for name: Notification.Name) -> Publisher { Publisher() }
}
@MainActor @preconcurrency protocol View {
    associatedtype Body: View
    @MainActor @preconcurrency var body: Body { get }
}
struct Shown: View { var body: Shown { self } }
extension View {
    func frame(height: Double) -> Shown { Shown() }
    func font(_ font: Font) -> Shown { Shown() }
    func padding() -> Shown { Shown() }
    func interactiveDismissDisabled() -> Shown { Shown() }
    func environment<Value>(_ path: WritableKeyPath<EnvironmentValues, Value>, _ value: Value) -> Shown {
        Shown()
    }
    func onOpenURL(perform action: @escaping @MainActor (URL) -> Void) -> Shown { Shown() }
    func sheet(isPresented: Binding<Bool>, @ViewBuilder content: @escaping @MainActor () -> Shown) -> Shown {
        Shown()
    }
    func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> Shown { Shown() }
    func onReceive(_ publisher: Publisher, perform action: @escaping (Int) -> Void) -> Shown { Shown() }
}
@MainActor @preconcurrency protocol UIViewRepresentable: View where Body == Shown {
    associatedtype Control
    typealias Context = Void
    func makeUIView(context: Context) -> Control
    func updateUIView(_ view: Control, context: Context)
}
extension UIViewRepresentable { var body: Shown { Shown() } }
@resultBuilder struct ViewBuilder {
    static func buildBlock(_ views: (any View)?...) -> Shown { Shown() }
    static func buildOptional(_ view: Shown?) -> Shown { Shown() }
    static func buildEither(first: Shown) -> Shown { Shown() }
    static func buildEither(second: Shown) -> Shown { Shown() }
}
struct Font { static let title2 = Font(), headline = Font(), footnote = Font() }
enum LayoutDirection { case leftToRight, rightToLeft }
struct EnvironmentValues { var layoutDirection = LayoutDirection.leftToRight }
enum HorizontalAlignment { case leading, center }
struct EmptyView: View { var body: Shown { Shown() } }
@MainActor struct ScrollView: View {
    init(@ViewBuilder content: @MainActor () -> Shown) {}
    var body: Shown { Shown() }
}
@MainActor struct ForEach<Element>: View {
    init<ID: Hashable>(
        _ elements: [Element], id: KeyPath<Element, ID>,
        @ViewBuilder content: @escaping @MainActor (Element) -> Shown
    ) {}
    var body: Shown { Shown() }
}
struct Toggle: View {
    init(_ text: String, isOn: Binding<Bool>) {}
    var body: Shown { Shown() }
}
struct Link: View {
    init(_ text: String, destination: URL) {}
    var body: Shown { Shown() }
}
struct VStack: View {
    init(@ViewBuilder _ content: () -> Shown) {}
    init(
        alignment: HorizontalAlignment, spacing: Double? = nil, @ViewBuilder content: @MainActor () -> Shown
    ) {}
    var body: Shown { Shown() }
}
struct Text: View {
    init(_ text: String) {}
    var body: Shown { Shown() }
}
struct Button: View {
    enum Role { case destructive }
    init(_ text: String, role: Role? = nil, action: @escaping @MainActor () -> Void) {}
    var body: Shown { Shown() }
}
