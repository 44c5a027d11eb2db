extension AuthorizeTexts {
    static let turkish = AuthorizeTexts(
        consent: Consent(
            title: "{client} hesabınıza erişmek istiyor",
            titleForGoogle: "Hesabınızı Google’a bağlayın",
            signedInAs: "Oturum açan hesap",
            withoutName: "Hesabınız; adı ve e-posta adresi yok",
            useAnotherAccount: "Başka bir hesap kullan",
            loginHint: "{client} şu hesabı öneriyor: {hint}.",
            purposeForGoogle:
                "Hesabınız Google’a bağlanacak; böylece onu Google uygulamalarında ve Google cihazlarında kullanabilirsiniz.",
            scopes: "{client} şu izinleri alacak",
            optionalScopes: "İzin vermek istemediklerinizin işaretini kaldırın.",
            emailShared: "{client} e-posta adresinizi alacak: {email}.",
            emailHidden:
                "Kendi e-posta adresiniz gizli kalır. {client} yalnızca yönlendirme adresini alacak: {email}.",
            emailUnknown: "{client} e-posta adresi almayacak, çünkü burada bilinen bir adres yok.",
            emailNotShared: "{client} e-posta adresinizi almayacak.",
            googlePolicy: "{policy}, Google’ın bu verileri nasıl kullandığını açıklar.",
            googlePolicyName: "Google Gizlilik Politikası",
            authorizationForGoogle:
                "“{agree}” seçeneğiyle, Google’a yukarıda listelendiği şekilde hesabınıza erişme ve hesabınıza ait olanları kontrol etme yetkisi verirsiniz.",
            unlinkFromGoogle:
                "Bağlantıyı istediğiniz zaman kaldırabilirsiniz: uygulamada veya Google Hesabınızda, {connections} bölümünde.",
            googleConnectionsName: "Üçüncü taraf uygulamaları ve hizmetleri",
            unlink:
                "Bu erişimi istediğiniz zaman sona erdirebilirsiniz: uygulamada veya Apple Hesabınızın ayarlarında, “Apple ile Giriş Yap” bölümünde.",
            returnsTo: "Ardından şuraya dönersiniz: {target}.",
            agree: "Kabul et ve bağla",
            cancel: "Vazgeç"),
        refusals: Refusals(
            unknownClient: Refusal(
                title: "Bu uygulama burada tanınmıyor",
                reason: "Bağlantı, bu hizmete kayıtlı olmayan bir uygulama (client_id) belirtiyor.",
                advice:
                    "Uygulamaya dönüp yeniden deneyin. Uygulamayı siz geliştiriyorsanız client_id değerini bu hizmetin yapılandırmasıyla karşılaştırın."
            ),
            redirectURIMismatch: Refusal(
                title: "Bu bağlantı yanlış yere gidiyor",
                reason:
                    "Bağlantı, bu uygulama için kayıtlı olmayan bir adrese (redirect_uri) dönmek istiyor.",
                advice:
                    "Güvenliğiniz için burada kalıyorsunuz. Uygulamayı siz geliştiriyorsanız tam olarak bu adresi aynı harfler, bağlantı noktası ve yolla kaydedin."
            ),
            requestMalformed: Refusal(
                title: "Bu bağlantı eksik",
                reason:
                    "Bağlantı, uygulamayı (client_id) ve dönüş adresini (redirect_uri) birer kez belirtmelidir.",
                advice:
                    "Uygulamaya dönüp yeniden deneyin. Uygulamayı siz geliştiriyorsanız bağlantının parametrelerini denetleyin."
            ),
            embeddedBrowser: Refusal(
                title: "Bu sayfayı tarayıcınızda açın",
                reason:
                    "Bu sayfa, yazdıklarınızı okuyabilecek başka bir uygulamanın içinde gösteriliyor. Safari veya Chrome gibi kendi tarayıcınız gerekir.",
                advice:
                    "Bu uygulamanın menüsünde “Tarayıcıda aç” seçeneğini kullanın veya bu adresi tarayıcınıza kopyalayın:"
            ),
            formRefused: Refusal(
                title: "Bu form artık kullanılamaz",
                reason: "Form başka bir oturuma veya isteğe ait ya da değiştirilmiş.",
                advice: "Hiçbir şey paylaşılmadı. Uygulamanın ne istediğini görmek için baştan başlayın."),
            signInNeeded: Refusal(
                title: "Yeniden giriş yapın",
                reason: "Oturumunuz sona erdi veya Apple’da geri alındı.",
                advice: "Hiçbir şey paylaşılmadı. Devam etmek için Apple ile yeniden giriş yapın.")
        ),
        errorCode: "Hata kodu: {code}",
        startAgain: "Baştan başla")
}
