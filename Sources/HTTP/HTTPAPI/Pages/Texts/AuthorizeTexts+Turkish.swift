extension AuthorizeTexts {
    static let turkish = AuthorizeTexts(
        consent: Consent(
            title: "{client}, {app} hesabınıza erişmek istiyor",
            titleForFirstParty: "{client} uygulamasında oturum açın",
            titleForGoogle: "{app} hesabınızı Google’a bağlayın",
            signedInAs: "Oturum açan hesap",
            withoutName: "Hesabınız (ad ve e-posta adresi yok)",
            useAnotherAccount: "Başka bir hesap kullan",
            loginHint:
                "{client} şu hesabı öneriyor: {hint}. İstediğiniz hesapla oturum açtığınızdan emin olun.",
            purposeForGoogle:
                "{app} hesabınız Google’a bağlanacak; böylece onu Google uygulamalarında ve Google cihazlarında kullanabilirsiniz.",
            scopes: "{client} şu izinleri alacak:",
            optionalScopes: "İzin vermek istemediklerinizin işaretini kaldırın.",
            emailHidden: "Kendi adresiniz gizli kalır. Yalnızca şu yönlendirme adresi paylaşılır: {email}",
            emailUnknown: "Burada bilinen bir adres yok, bu yüzden adres paylaşılmaz.",
            emailNotShared: "{client} e-posta adresinizi almayacak.",
            googlePolicy: "{policy}, Google’ın bu verileri nasıl kullandığını açıklar.",
            googlePolicyName: "Google Gizlilik Politikası",
            authorizationForGoogle:
                "“{agree}” seçeneğiyle, Google’a yukarıda listelendiği şekilde hesabınıza erişme ve hesabınıza ait olanları kontrol etme yetkisi verirsiniz.",
            unlinkFromGoogle:
                "Bağlantıyı istediğiniz zaman kaldırabilirsiniz: uygulamada veya Google Hesabınızda, {connections} bölümünde.",
            googleConnectionsName: "Üçüncü taraf uygulamaları ve hizmetleri",
            unlink:
                "Bu erişimi istediğiniz zaman uygulamada sona erdirebilirsiniz. Uygulamada Apple Hesabınızı kullanmayı bırakırsanız bu erişimle birlikte tüm erişimler sona erer.",
            returnsTo: "Ardından şuraya dönersiniz: {target}.",
            returnsToProgram: "Ardından bu bilgisayarda bu sayfayı açan programa dönersiniz ({target}).",
            agreeAndLink: "Kabul et ve bağla",
            allow: "İzin ver",
            goOn: "Devam et",
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
                title: "Yeniden oturum açın",
                reason: "Oturumunuz sona erdi veya bu uygulamada Apple Hesabınızı kullanmayı bıraktınız.",
                advice: "Hiçbir şey paylaşılmadı. Devam etmek için Apple ile yeniden oturum açın."),
            accountDisabled: Refusal(
                title: "Bu hesap devre dışı",
                reason:
                    "Uygulamayı geliştirenler hesabınızı devre dışı bıraktı, bu yüzden bu hesapla oturum açamazsınız.",
                advice:
                    "Hiçbir şey paylaşılmadı. Bunun bir yanlışlık olduğunu düşünüyorsanız uygulamayı geliştirenlere sorun."
            ),
            otherBrowser: Refusal(
                title: "Başladığınız tarayıcıda devam edin",
                reason:
                    "Bu oturum açma işlemi başka bir tarayıcıda başlatıldı veya bu tarayıcı çerezleri saklamıyor.",
                advice:
                    "Hiçbir şey paylaşılmadı. Diğer tarayıcıyı açın ya da uygulamaya veya web sitesine dönüp yeniden oturum açın."
            ),
            signInOver: Refusal(
                title: "Bu oturum açma işlemi sona erdi",
                reason: "On dakikadan uzun süre önce başlatıldı veya daha önce tamamlandı.",
                advice: "Başladığınız uygulamaya veya web sitesine dönün ve yeniden oturum açın."),
            signInUnknown: Refusal(
                title: "Bu oturum açma işlemi burada tanınmıyor",
                reason: "Burada başlatılmadı veya adresi yolda değiştirildi.",
                advice: "Başladığınız uygulamaya veya web sitesine dönün ve yeniden oturum açın."),
            requestUnreadable: Refusal(
                title: "Bu sayfa bu şekilde açılamaz",
                reason: "Bu sayfa böyle bir isteği yanıtlamaz.",
                advice: "Başladığınız uygulamaya veya web sitesine dönün ve yeniden deneyin."),
            unavailable: Refusal(
                title: "Şu anda kullanılamıyor",
                reason: "Hizmet şu anda yanıt veremiyor.",
                advice: "Bir dakika bekleyin. Sonra başladığınız yere dönüp yeniden deneyin."),
            failed: Refusal(
                title: "Bir sorun oluştu",
                reason: "Hizmet isteğinizi tamamlayamadı. Hata sizde değil.",
                advice: "Yeniden deneyin. Sorun sürerse aşağıdaki kodu uygulamayı geliştirenlere iletin."),
            pageUnknown: Refusal(
                title: "Böyle bir sayfa yok",
                reason: "Bu adreste sayfa yok. Adres yanlış yazılmış veya eskimiş olabilir.",
                advice: "Adresi denetleyin veya geldiğiniz yere dönün."),
            linkOfApp: Refusal(
                title: "Bu bağlantı uygulamada açılır",
                reason:
                    "Bunu tarayıcı değil, yalnızca telefonunuzdaki veya tabletinizdeki uygulama yanıtlayabilir.",
                advice:
                    "Google uygulamasına dönüp bağlama işlemini yeniden başlatın. Uygulama yoksa işlem tarayıcıda devam eder."
            )
        ),
        errorCode: "Hata kodu: {code}",
        startAgain: "Baştan başla",
        backToClient: "{client} uygulamasına dön")
}
